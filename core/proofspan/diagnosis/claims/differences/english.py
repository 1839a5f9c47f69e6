"""English words by which statements differ; `lists.py` says how they are read."""

OPPOSITES = """
    increase increasingly rise rose risen grow grew grown growth raise climb ?gain surge soar jump spike
        expand expansion ?up upward uptick upturn higher high boost ?more greater larger bigger lift
        escalate enlarge heighten elevate accelerate acceleration multiply double triple quadruple swell
        ascend augment rebound hike | decrease fall fell fallen decline drop reduce reduction shrink
        shrank shrunk shrinkage lower low plunge plummet slump sank sunk ?down downward downturn downtick
        ?less fewer smaller cut contraction lessen diminish dip slid tumble dwindle slash shorten
        depreciate decelerate deceleration halve descend;
    highest largest biggest greatest maximum max | lowest smallest least minimum min fewest;
    profit profitable profitability earnings | loss unprofitable;
    success succeed successful successfully | failure fail unsuccessful unsuccessfully;
    ~ before prior previously preceding earlier ahead | after following afterwards subsequently later;
    ~ above ?over exceed beyond | below ?under beneath underneath;
    best | worst;
    better improve improvement enhance enhancement strengthen stronger | worse worsen deteriorate
        deterioration weaken weaker impair;
    strong strongly robust solid | weak weakly poor feeble sluggish;
    good great excellent | bad poor terrible awful;
    open reopen unlock | close shut lock;
    start begin began begun beginning launch commence | end finish stop cease conclude terminate
        termination;
    accept approve approval agree agreed agreement consent | reject rejection refuse refusal decline deny
        disagree disagreed disagreement disapprove;
    confirm admit acknowledge claim | deny denial refute;
    allow permit permission enable authorize authorise legalise legalize | prohibit prohibition forbid
        forbidden ban disallow prevent block outlaw;
    include inclusion contain | exclude exclusion omit;
    inclusive | exclusive;
    ~ win won winner victory beat beaten defeat triumph | lose lost loser;
    ~ buy bought purchase acquire acquisition | sell sold sale divest divestiture;
    love enjoy adore | hate dislike loathe dread detest;
    remember recall | forget forgot forgotten;
    arrive arrival enter join | leave left depart departure exit quit;
    positive positively favorable favourable favorably | negative negatively unfavorable unfavourable
        adverse adversely;
    support favor favour | oppose opposition;
    encourage recommend advise advocate endorse | discourage condemn;
    praise commend laud applaud | criticize criticise criticism condemn vilify blame;
    advantage benefit beneficial pros upside strength | disadvantage drawback harm harmful cons downside
        weakness;
    ! first earliest initial initially | last final latest finally;
    ! next upcoming forthcoming following | previous last past preceding prior;
    ! early earlier earliest | late later latest;
    ! new newer newest | old older oldest;
    long longer longest lengthy | short shorter shortest brief;
    large larger largest big bigger biggest huge | small smaller smallest tiny;
    fast faster fastest quick quicker quickly rapid rapidly | slow slower slowest slowly;
    hot hotter hottest warm warmer | cold colder coldest cool cooler;
    heavy heavier heaviest | light lighter lightest lightweight;
    easy easier easily simple | difficult hard harder challenging complicated;
    safe safely safer | dangerous dangerously hazardous risky;
    free complimentary gratis | paid;
    public publicly | private privately;
    internal internally inside indoor inner inward | external externally outside outdoor outer outward;
    within | outside beyond above below;
    domestic domestically | foreign international internationally overseas;
    ! front forward | back rear backward;
    ! left | right;
    ! plus | minus;
    clockwise | anticlockwise counterclockwise;
    ~ north northern | south southern;
    ~ east eastern | west western;
    male man men boy father son brother husband uncle | female woman women girl mother daughter sister
        wife aunt;
    rich wealthy | poor impoverished;
    full fully complete completely entire entirely | empty partial partially incomplete;
    present attend attendance | absent absence;
    true truth | false untrue lie;
    guilty convicted | innocent acquitted;
    alive survive survivor | dead die died dies dying death killed;
    friend friendly ally | enemy enemies hostile foe rival;
    happy happily glad pleased delighted | sad sadly upset depressed;
    daytime | night nighttime overnight;
    ~ borrow | lend lent;
    ~ import | export;
    build built construct create creation establish | destroy destruction demolish dismantle;
    add addition | remove removal delete subtract;
    connect connection attach | detach disconnect;
    activate enable | deactivate disable;
    tighten tight tighter | loosen loose looser;
    push | pull;
    fill refill | empty drain;
    ~ lead led | trail lag;
    hire employ appoint | fire dismiss sacked;
    protect | endanger expose;
    simple simpler | complex complicated;
    wet moist | dry;
    ! frequent frequently often usually always | rare rarely seldom never;
    majority | minority;
    temporary temporarily | permanent permanently;
    voluntary voluntarily optional | mandatory compulsory obligatory required;
    visible | hidden;
    significant important | trivial negligible insignificant;
    correct correctly accurate accurately | wrong wrongly false falsely;
    fortunate fortunately lucky | unfortunate;
    healthy | sick ill;
    asset | liability;
    income revenue | expense expenditure cost;
    ~ credit | debit;
    gross | net;
    tailwind | headwind;
    surplus | deficit shortfall;
    inflow | outflow;
    ~ debtor borrower | creditor lender;
    ~ buyer purchaser | seller vendor;
    ~ landlord lessor | tenant lessee;
    ~ employer | employee;
    ~ plaintiff | defendant;
    ~ teacher | student pupil;
    victim | offender perpetrator attacker;
    clockwise | counterclockwise anticlockwise;
    horizontal horizontally | vertical vertically;
    deep deeper | shallow;
    thick thicker | thin thinner;
    wide wider | narrow narrower;
    tall taller | short shorter;
    sharp | blunt dull;
    smooth | rough;
    soft softer | hard harder;
    loud louder noisy | quiet quieter silent;
    bright brighter | dark darker dim;
    urban | rural;
    ancient | modern;
    optimistic optimism | pessimistic pessimism;
    superior | inferior;
    fresh | stale;
    admire respect | despise;
    trust | distrust mistrust doubt;
    hide hidden conceal | reveal disclose;
    upgrade | downgrade;
    overestimate overstate | underestimate understate;
    lenient | strict severe;
    peace peaceful peacefully | war violent violently;
    unite unify | divide split;
    marry marriage wedding | divorce funeral;
    birth born | death died;
    promote | demote;
    inflation inflationary | deflation deflationary;
    ignore neglect | listen heed;
    ! single | married;
    thrive prosper flourish | struggle suffer;
    credible | dubious;
    freeze froze frozen | thaw melt;
    ally | opponent;
    ! active | passive;
    ! primary | secondary;
    abundant plentiful | scarce;
    accidental accidentally unintentional | deliberate deliberately intentional intentionally;
    acquit | convict;
    ! advance | retreat;
    aggressive | gentle;
    amateur | professional;
    appear emerge | disappear vanish;
    arrest detain | release;
    assemble | disassemble dismantle;
    awake | asleep;
    beautiful | ugly;
    brave courageous | cowardly;
    calm | angry furious;
    careful carefully cautious | careless carelessly reckless;
    cheap inexpensive affordable | expensive costly;
    clean | dirty;
    combine merge | separate;
    comedy | tragedy;
    continue resume | discontinue halt suspend;
    crowded | deserted secluded;
    ! demand | supply;
    deposit | withdraw withdrawal;
    entrance entry | exit;
    ! even | odd;
    exact exactly precise precisely | approximate approximately roughly;
    ! far distant | near nearby close;
    fictional | factual;
    flexible | rigid;
    generous | stingy greedy;
    genuine authentic | fake counterfeit;
    guest | host;
    harmless | harmful;
    heaven | hell;
    hopeful | hopeless;
    humble | arrogant;
    ! individual individually | collective collectively;
    inhale | exhale;
    insert | extract;
    interesting exciting fascinating | boring dull tedious;
    junior | senior;
    ! kind kindly | cruel cruelly;
    leader | follower;
    lengthen extend prolong | shorten curtail;
    ! liberal | conservative;
    ! local locally | global globally national nationally;
    maximise maximize | minimise minimize;
    natural naturally | artificial artificially synthetic;
    obey comply | disobey violate breach;
    occupied | vacant;
    offensive | defensive;
    online | offline;
    outperform | underperform;
    overvalued | undervalued;
    plural | singular;
    polite politely | rude rudely;
    powerful | powerless;
    predator | prey;
    pride proud | shame ashamed;
    prove | disprove;
    qualify | disqualify;
    ratify enact | repeal revoke veto;
    relaxed | tense stressed;
    renew renewal | expire expiry;
    reward | punish punishment;
    satisfied satisfaction | dissatisfied dissatisfaction;
    serious seriously | humorous funny;
    sober | drunk;
    ! solid | liquid;
    sour bitter | sweet;
    stable stability | unstable volatile volatility;
    stationary | moving;
    sunrise dawn | sunset dusk;
    tame | wild;
    together jointly | apart separately alone;
    transparent | opaque;
    unanimous unanimously | divided;
    upstream | downstream;
    inbound | outbound;
    bullish | bearish;
    virtue | vice;
    welcome | farewell;
    widen | narrow;
    willing willingly | reluctant reluctantly unwilling;
    wise wisely | foolish foolishly;
    adopt | abandon;
    hero | villain;
    ! premium | discount;
    absolute absolutely | relative relatively;
    excess | shortage;
    explicit explicitly | implicit implicitly;
    ! fixed | variable floating;
    ! hardware | software;
    lit | extinguished;
    load | unload;
    ! manual manually | automatic automatically;
    mild | severe;
    objective objectively | subjective subjectively;
    partial partially | complete completely total;
    quantitative | qualitative;
    raw | cooked;
    retail | wholesale;
    simultaneous simultaneously | successive successively;
    sunny | cloudy rainy;
    ! theory theoretical | practice practical;
    underground | overground
"""

#: Words of which only one can be right; days and months come first.
ALTERNATIVES = """
    monday tuesday wednesday thursday friday saturday sunday;
    january february march april may june july august september october november december;
    spring summer autumn winter;
    morning afternoon evening midnight noon night;
    minute hour day week month quarter year decade century;
    daily weekly monthly quarterly yearly;
    breakfast lunch dinner supper;
    mother father brother sister son daughter wife husband uncle aunt cousin nephew niece grandmother
        grandfather;
    gold silver bronze copper platinum;
    red blue green yellow black white orange purple pink brown grey;
    bus train car plane bicycle ship ferry tram taxi;
    beer wine coffee tea water milk juice;
    north south east west;
    wood steel plastic glass aluminium concrete leather;
    football basketball baseball tennis cricket rugby hockey golf volleyball;
    cat dog horse cow pig sheep bird fish;
    africa asia europe america australia antarctica;
    doctor nurse lawyer teacher engineer soldier farmer;
    song poem painting sculpture podcast blog;
    hospital hotel airport harbour restaurant museum library;
    apple orange banana grape cherry pear peach lemon strawberry;
    chicken beef pork lamb turkey tofu;
    guitar piano violin drum flute trumpet cello;
    kitchen bathroom bedroom garage garden basement attic;
    arm leg knee shoulder ankle wrist elbow;
    rain snow hail;
    christmas easter thanksgiving halloween;
    mathematics physics chemistry biology geography;
    shirt dress skirt trousers jacket;
    swimming running cycling skiing;
    lion tiger elephant bear wolf;
    christian muslim jewish buddhist hindu
"""

PLURALS = ("s", "es")

NEGATIONS = """
    not never no nobody none nor neither cannot unable ain't nowhere hardly barely yet lack lacks lacked
    lacking fail fails failed failing refuse refuses refused without
"""
#: Words behind a negation with which it denies nothing: "not only", "no more than".
UNDENIED = """
    only just more than less later longer limited until fewer merely necessarily least even so
"""

PREFIXES = "un in im ir il dis non"
#: What such prefixes are put before without making an opposite.
UNPREFIXED = """
    ability aging arm band bark bitter bond border burden burse cant card cede charge chant cite client
    clude coming cover creased creasing crease credible cuss dex deed dent dict dustry ease fact fall fant
    fection fer ference figure flated flation fluence form formation formed forms fringe fuse genious
    grain habit hale herent heritance hibit itial jection jury laid land lay less lord mate mediate mense
    migrant migration pact pair part parted passe patch peach perial pending pens perative plant
    plantation plants play played plays pleasure plement plicate ply port portance portant ported ports
    pose posed position power press pressed pression pressive print prison prove proved provement pulse
    pute put quest quire room ruption sect sense serted sert serve side sight sist solve spect spection
    spire stall stalled stallation stance stant stead stinct stitute stitution stone stroy structor struct
    suit sula surance sure sured tact take tasted tegral tegrity tend tended tense tent tention tenth
    terest terior term test till tone tract tray tribe tribute vade valuable vasion vent vention ventory
    verse vest vested vestment vision vite vited voice voke volve volved world ward
"""

#: Words for all, for some, for none.
QUANTIFIERS = (
    "all every each everyone everybody always entire",
    "some several few many most partly sometimes half certain majority occasionally",
    "no none nobody never neither",
)
#: What must be, what only may be, what will be for certain, what is only possible.
MODALS = ("must shall mandatory required", "may might optional optionally", "will", "can could")

HEDGES = """
    if when generally usually normally typically mostly most often can may might could some limited except
    unless only excluding exceptions exception conditions
"""
QUALIFIER = (
    r"unless|except(?:ing)?(?: for| that| when| if| in)?|only (?:if|when|where|after)|"
    r"(?<!is )(?<!are )(?<!twice )"
    r"(?<!last )(?<!lasts )(?<!lasted )(?<!take )(?<!takes )(?<!took )(?:for )?(?<!just )as long as(?! \d)|"
    r"(?<=\w )(?<!even )(?<!as )(?<!see )(?<!ask )(?<!asked )(?<!check )(?<!know )"
    r"if(?! (?:you|they|we|one) (?:want|need|wish|like|prefer))"
    r"(?! (?:necessary|needed|possible|any|so|not)\b)|"
    r"provided(?: that)?|on condition that|other than|subject to|with the exception of|excluding"
)
UP_TO = r"up to|no more than"
SAYS_UP_TO = (
    r"up to|maximum|max|at most|no more|limit|within|as many|as much|less than|under|below|not exceed|"
    r"most|to|between|range|can|may|could"
)
