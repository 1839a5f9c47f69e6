"""German words by which statements differ; `lists.py` says how they are read."""

OPPOSITES = """
    steigen stieg gestiegen Anstieg Steigerung steigern erhöhen erhöht Erhöhung zunehmen zugenommen
        Zunahme wachsen wuchs gewachsen Wachstum höher hoch hohe anheben Zuwachs ?mehr größer | sinken
        sank gesunken fallen fiel gefallen Rückgang zurückgehen zurückgegangen abnehmen abgenommen Abnahme
        verringern Verringerung senken Senkung reduzieren Reduzierung niedriger niedrig tief tiefer gering
        geringer ?weniger schrumpfen geschrumpft kleiner;
    höchste höchstens maximal Maximum Höchstwert | niedrigste mindestens minimal Minimum Mindestwert
        geringste;
    Gewinn Überschuss profitabel | Verlust Fehlbetrag defizitär;
    Erfolg erfolgreich gelingen | Misserfolg Scheitern gescheitert erfolglos;
    ~ bevor zuvor vorher | nachdem danach nachher anschließend;
    ~ oberhalb ?über | unterhalb ?unter;
    besser verbessern Verbesserung | schlechter verschlechtern Verschlechterung;
    stark stärker | schwach schwächer;
    gut | schlecht;
    öffnen geöffnet offen Öffnung | schließen geschlossen schließt;
    beginnen begann begonnen Beginn starten Anfang anfangen | enden endet beenden beendet Ende aufhören;
    annehmen angenommen zustimmen zugestimmt genehmigen Genehmigung akzeptieren | ablehnen abgelehnt
        Ablehnung verweigern verweigert;
    bestätigen | bestreiten leugnen dementieren;
    erlauben erlaubt gestatten gestattet zulassen zulässig zugelassen | verbieten verboten untersagen
        untersagt unzulässig verhindern;
    einschließlich enthalten inklusive einschließen | ausschließlich ausgenommen exklusive ausschließen;
    ~ gewinnen gewann gewonnen Sieg siegen | verlieren verlor verloren Niederlage;
    ~ kaufen gekauft Kauf erwerben erworben | verkaufen verkauft Verkauf veräußern;
    lieben | hassen;
    erinnern | vergessen vergaß;
    ankommen Ankunft betreten beitreten | verlassen abfahren Abfahrt austreten;
    positiv günstig | negativ ungünstig;
    Vorteil Stärke | Nachteil Schwäche;
    erste zuerst | letzte zuletzt;
    nächste kommende folgende | vorige vorherige vergangene;
    früh früher | spät später;
    neu neuer | alt älter;
    lang länger | kurz kürzer;
    groß größer | klein kleiner;
    schnell schneller | langsam langsamer;
    heiß warm wärmer | kalt kälter;
    schwer schwerer | leicht leichter;
    einfach | schwierig kompliziert;
    sicher | gefährlich;
    kostenlos gratis | kostenpflichtig;
    öffentlich | privat;
    innen intern innerhalb | außen extern außerhalb;
    inländisch Inland | ausländisch Ausland;
    vorne vorn vordere vorwärts | hinten hintere rückwärts;
    ~ links linke | rechts rechte;
    Mann männlich Vater Sohn Bruder | Frau weiblich Mutter Tochter Schwester;
    voll vollständig | leer teilweise unvollständig;
    wahr | falsch;
    schuldig | unschuldig freigesprochen;
    lebendig überleben | tot gestorben;
    ~ Import importieren Einfuhr | Export exportieren Ausfuhr;
    bauen errichten | zerstören abreißen;
    hinzufügen | entfernen löschen;
    anschließen verbinden | trennen abklemmen;
    einschalten eingeschaltet aktivieren anschalten | ausschalten ausgeschaltet deaktivieren abschalten;
    anziehen festziehen | lösen lockern;
    drücken | ziehen;
    füllen auffüllen | leeren entleeren ablassen;
    häufig oft immer | selten nie niemals;
    Mehrheit | Minderheit;
    vorübergehend zeitweise | dauerhaft ständig;
    freiwillig | verpflichtend vorgeschrieben obligatorisch;
    direkt | indirekt;
    sichtbar | unsichtbar;
    richtig korrekt | falsch;
    Vermögenswert Aktiva Forderung | Verbindlichkeit Passiva;
    Ertrag Erträge Einnahme Umsatz | Aufwand Aufwendung Ausgabe Kosten;
    brutto | netto;
    ~ Käufer | Verkäufer;
    ~ Mieter | Vermieter;
    ~ Arbeitgeber | Arbeitnehmer;
    hell | dunkel;
    nass feucht | trocken
"""

#: Words of which only one can be right; days and months come first.
ALTERNATIVES = """
    Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag;
    Januar Februar März April Mai Juni Juli August September Oktober November Dezember;
    Frühling Frühjahr Sommer Herbst Winter;
    Morgen Nachmittag Abend Mitternacht Mittag;
    Sekunde Minute Stunde Tag Woche Monat Quartal Jahr Jahrzehnt;
    täglich wöchentlich monatlich vierteljährlich jährlich;
    rot blau grün gelb schwarz weiß orange lila rosa braun grau;
    Norden Süden Osten Westen
"""

PLURALS = ("e", "s", "en", "n", "er", "es")

NEGATIONS = """
    nicht kein keine keinen keinem keiner keines nie niemals niemand nirgends ohne weder kaum
"""
UNDENIED = """
    nur mehr als weniger später länger bis lediglich unbedingt allein
"""

PREFIXES = "un nicht"
#: What such prefixes are put before without making an opposite.
UNPREFIXED = """
    fall ter ten fug tier mut gemein kraut rat sinn ser sere seren
"""

#: Words for all, for some, for none.
QUANTIFIERS = (
    "alle allen aller alles jeder jede jedes jeden sämtliche immer",
    "einige manche mehrere wenige viele meisten manchmal teilweise",
    "kein keine keinen keiner keinem niemand nie niemals",
)
#: What must be, what only may be, what will be for certain, what is only possible.
MODALS = ("muss müssen musste", "darf dürfen kann können", "", "")  # "wird" is a passive as well

HEDGES = """
    wenn falls normalerweise grundsätzlich meist meistens oft kann können manche außer sofern nur
    ausnahmen
"""
QUALIFIER = (
    r"es sei denn|außer(?: wenn| bei)?|nur (?:wenn|falls|sofern|solange)|erst (?:wenn|nachdem)|"
    r"sofern|solange|ausgenommen|mit Ausnahme|"
    r"vorausgesetzt"
)
UP_TO = r"bis zu|höchstens"
SAYS_UP_TO = r"bis|höchstens|maximal|maximum|unter|weniger|innerhalb|begrenzt|höchstens|zwischen|kann"
