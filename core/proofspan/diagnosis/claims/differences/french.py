"""French words by which statements differ; `lists.py` says how they are read."""

OPPOSITES = """
    augmenter augmentation hausse croître croissance accroître accroissement élever élévation monter
        supérieur haut haute ?plus progresser progression | diminuer diminution baisse baisser réduire
        réduit réduction décroître chuter chute reculer recul inférieur bas basse ?moins abaisser;
    maximum maximal maximale | minimum minimal minimale;
    bénéfice profit bénéficiaire | perte déficit déficitaire;
    succès réussite réussir réussi | échec échouer échoué;
    ~ avant auparavant | après ensuite;
    ~ dessus | dessous;
    meilleur améliorer amélioration | pire détériorer détérioration aggraver aggravation;
    fort forte | faible;
    bon bonne | mauvais mauvaise;
    ouvrir ouvert ouverte ouverture | fermer fermé fermée fermeture;
    commencer commence début débuter démarrer | finir terminer fin cesser arrêter;
    accepter accepté approuver approuvé approbation | refuser refusé refus rejeter rejeté rejet;
    confirmer | nier démentir;
    permettre permis permet autoriser autorisé | interdire interdit interdite empêcher;
    inclure inclus incluse compris | exclure exclu exclue exclus;
    ~ gagner gagné victoire | perdre perdu défaite;
    ~ acheter acheté achat acquérir acquis acquisition | vendre vendu vente céder cession;
    aimer | détester haïr;
    rappeler souvenir | oublier oublié;
    arriver arrivée entrer | partir départ quitter sortir;
    positif positive favorable | négatif négative défavorable;
    avantage | inconvénient désavantage;
    premier première | dernier dernière;
    prochain prochaine suivant suivante | précédent précédente;
    tôt | tard;
    nouveau nouvelle neuf neuve | ancien ancienne vieux vieille;
    long longue | court courte;
    grand grande | petit petite;
    rapide rapidement | lent lente lentement;
    chaud chaude | froid froide;
    lourd lourde | léger légère;
    facile | difficile;
    sûr | dangereux dangereuse;
    gratuit gratuite | payant payante;
    public publique | privé privée;
    intérieur interne | extérieur externe;
    avant | arrière;
    ~ gauche | droite;
    homme masculin père fils frère | femme féminin mère fille sœur;
    plein pleine complet complète | vide partiel partielle incomplet;
    vrai | faux fausse;
    coupable | innocent;
    vivant survivre | mort morte;
    ~ importer importation | exporter exportation;
    construire construit | détruire détruit démolir;
    ajouter ajout | supprimer retirer enlever;
    brancher connecter | débrancher déconnecter;
    allumer allumé activer activé | éteindre éteint désactiver désactivé;
    serrer | desserrer;
    pousser | tirer;
    remplir | vider vidanger;
    souvent toujours fréquemment | rarement jamais;
    majorité | minorité;
    temporaire provisoire | permanent définitif;
    facultatif volontaire | obligatoire;
    actif actifs | passif passifs;
    produit produits revenu recette | charge charges dépense coût;
    brut brute | net nette;
    ~ acheteur | vendeur;
    ~ locataire | bailleur propriétaire;
    ~ employeur | employé salarié;
    clair claire | sombre foncé;
    mouillé humide | sec sèche
"""

#: Words of which only one can be right; days and months come first.
ALTERNATIVES = """
    lundi mardi mercredi jeudi vendredi samedi dimanche;
    janvier février mars avril mai juin juillet août septembre octobre novembre décembre;
    printemps automne hiver;
    matin midi soir minuit;
    seconde minute heure jour semaine mois trimestre année décennie;
    quotidien hebdomadaire mensuel trimestriel annuel;
    rouge bleu vert jaune noir blanc orange violet rose brun gris;
    nord sud ouest
"""

PLURALS = ("s", "e", "es")

NEGATIONS = """
    pas jamais aucun aucune sans personne rien nullement ni
"""
UNDENIED = """
    seulement plus que moins jusqu uniquement nécessairement
"""

PREFIXES = "in im ir il dés non"
#: What such prefixes are put before without making an opposite.
UNPREFIXED = """
    dice former formation struit tact verse vestir vite viter scrit scrire staller stallation stitut
    stitution struction tégral tégrer tention terdit térieur térêt terne terrompre ternet venter vention
    voquer pact partial patient pliquer port porter portant portance poser position pression primer prévu
    pulsion meuble médiat
"""

#: Words for all, for some, for none.
QUANTIFIERS = (
    "tout tous toute toutes chaque toujours",
    "certains certaines quelques plusieurs plupart parfois beaucoup",
    "aucun aucune personne jamais nul",
)
#: What must be, what only may be, what will be for certain, what is only possible.
MODALS = ("doit doivent devez", "peut peuvent pouvez", "", "")

HEDGES = """
    si lorsque généralement normalement souvent peut peuvent certains sauf seulement uniquement exceptions
"""
QUALIFIER = (
    r"sauf(?: si| en cas)?|excepté|à moins (?:que|de)|à condition (?:que|de)|"
    r"(?:uniquement|seulement) (?:si|lorsque|après)|pourvu que|aussi longtemps que|"
    r"sous réserve|hormis|à l['’]exception"
)
UP_TO = r"jusqu['’]à|au plus"
SAYS_UP_TO = r"jusqu|maximum|maximal|plus|moins|limite|entre|à|peut"
