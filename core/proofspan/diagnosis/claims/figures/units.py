"""Units, currencies and scales that follow a number, in English, German and French.

A unit has a dimension, and a factor to that dimension's base unit. Months and years are a dimension beside
days, as a month has no fixed length. "Pound" is a weight or a currency, and is left as a weight that may be
the currency.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit: `value * factor + offset` is in the base unit of its dimension."""

    name: str
    dimension: str
    factor: Decimal
    offset: Decimal = Decimal(0)


NO_UNIT = Unit("", "", Decimal(1))
PERCENT = Unit("%", "share", Decimal("0.01"))

#: Dimension, factor and offset to the base unit, the unit's name, and its other spellings; "_" is a space. A
#: unit with many spellings has several lines.
_TABLE = """
share 0.01 0 % percent per_cent pct Prozent pour_cent pourcent
share 0.001 0 ‰ permille Promille
share 0.01 0 pp percentage_points percentage_point %-points pct_points ppt pts Prozentpunkte Prozentpunkten
share 0.01 0 pp Prozentpunkt points_de_pourcentage point_de_pourcentage
share 0.0001 0 bps bp basis_points basis_point Basispunkte Basispunkten points_de_base
length 0.001 0 mm millimeter millimeters millimetre millimetres Millimetern millimètre millimètres
length 0.01 0 cm centimeter centimeters centimetre centimetres Zentimeter Zentimetern centimètre centimètres
length 1 0 m meter meters metre metres Metern mètre mètres
length 1000 0 km kilometer kilometers kilometre kilometres Kilometern kilomètre kilomètres
length 0.0254 0 in inch inches Zoll pouce pouces ″
length 0.3048 0 ft foot feet Fuß pied pieds
length 0.9144 0 yd yard yards
length 1609.344 0 mi mile miles Meile Meilen
area 1 0 m² m2 sqm square_meter square_meters square_metre square_metres Quadratmeter mètres_carrés
area 0.09290304 0 ft² sq_ft sqft square_foot square_feet
area 10000 0 ha hectare hectares Hektar
area 4046.8564224 0 acre acres
area 1000000 0 km² km2 square_kilometers square_kilometres square_kilometer Quadratkilometer
area 2589988.110336 0 mi² square_mile square_miles
volume 1 0 m³ m3 cubic_meter cubic_meters cubic_metre cubic_metres Kubikmeter mètres_cubes
volume 0.028316846592 0 ft³ cubic_foot cubic_feet
volume 0.000001 0 cm³ cm3 cc ccm ml mL milliliter milliliters millilitre millilitres
volume 0.001 0 L l liter liters litre litres Litern
volume 0.003785411784 0 gal gallon gallons
volume 0.000946352946 0 qt quart quarts
volume 0.0000295735295625 0 fl_oz fluid_ounce fluid_ounces
volume 0.158987294928 0 bbl barrel barrels
mass 0.000001 0 mg milligram milligrams Milligramm milligramme milligrammes
mass 0.001 0 g gram grams gramme grammes Gramm
mass 1 0 kg kilogram kilograms kilo kilos kilogramme kilogrammes Kilogramm
mass 1000 0 t tonne tonnes Tonne Tonnen
mass 0.45359237 0 lb lbs pound pounds Pfund
mass 0.028349523125 0 oz ounce ounces Unze Unzen
temperature 1 0 °C degrees_Celsius degree_Celsius degrees_C Grad_Celsius degrés_Celsius ℃
temperature 0.5555555555555556 -17.777777777777778 °F degrees_Fahrenheit degree_Fahrenheit degrees_F
temperature 0.5555555555555556 -17.777777777777778 °F Grad_Fahrenheit ℉
angle 1 0 ° degrees degree Grad degrés
pressure 1 0 Pa pascal pascals
pressure 100 0 hPa mbar
pressure 1000 0 kPa kilopascal kilopascals
pressure 1000000 0 MPa megapascal
pressure 100000 0 bar bars
pressure 6894.757293168 0 psi
speed 1 0 km/h km/hr kph kmh km_per_hour kilometers_per_hour kilometres_per_hour kilometers_an_hour
speed 1 0 km/h Kilometer_pro_Stunde
speed 1.609344 0 mph miles_per_hour mi/h
speed 3.6 0 m/s meters_per_second metres_per_second
time 1 0 s sec secs second seconds Sekunde Sekunden seconde secondes
time 0.001 0 ms millisecond milliseconds Millisekunden
time 60 0 min mins minute minutes Minute Minuten
time 3600 0 h hr hrs hour hours Stunde Stunden heure heures
time 86400 0 d day days Tag Tage Tagen jour jours
time 604800 0 wk week weeks Woche Wochen semaine semaines
months 1 0 month months Monat Monate Monaten mois
months 3 0 quarters Quartale Quartalen trimestres
months 12 0 yr yrs year years Jahr Jahre Jahren an ans année années
months 120 0 decade decades Jahrzehnte décennies
power 1 0 W watt watts Watt
power 1000 0 kW kilowatt kilowatts
power 1000000 0 MW megawatt megawatts
power 1000000000 0 GW gigawatt gigawatts
power 745.69987158227022 0 hp horsepower bhp
power 735.49875 0 PS ch chevaux
energy 1 0 J joule joules
energy 1000 0 kJ kilojoule kilojoules
energy 4184 0 kcal kilocalories
energy 3600 0 Wh
energy 3600000 0 kWh kilowatt-hours kilowatt_hours
energy 3600000000 0 MWh megawatt-hours megawatt_hours
energy 3600000000000 0 GWh gigawatt-hours
voltage 0.001 0 mV
voltage 1 0 V volt volts Volt
voltage 1000 0 kV
current 0.001 0 mA
current 1 0 A amp amps ampere amperes Ampere
charge 1 0 Ah amp-hours
charge 0.001 0 mAh
resistance 1 0 Ω ohm ohms Ohm
resistance 1000 0 kΩ
frequency 1 0 Hz hertz
frequency 1000 0 kHz
frequency 1000000 0 MHz
frequency 1000000000 0 GHz
torque 1 0 Nm N·m N-m newton_meters newton_metres Newtonmeter
torque 1.3558179483314 0 lb-ft lbf-ft ft-lb ft-lbs lb-ft. lb.-ft. ft_lbs pound-feet
rotation 1 0 rpm r/min U/min tr/min revolutions_per_minute
sound 1 0 dB decibels
times 1 0 times x mal fois
data 1000 0 kB KB kilobytes
data 1000000 0 MB megabyte megabytes
data 1000000000 0 GB gigabyte gigabytes
data 1000000000000 0 TB terabyte terabytes
currency 1 0 USD US$ US_dollars US_dollar U.S._dollars U.S._dollar
currency 1 0 $ dollar dollars Dollar
currency 0.01 0 ¢ cent cents Cent
currency 1 0 EUR € euro euros Euro
currency 1 0 GBP £ pounds_sterling
currency 1 0 CHF francs_suisses Franken francs
currency 1 0 CAD C$ CA$ Canadian_dollars
currency 1 0 AUD A$ AU$ Australian_dollars
currency 1 0 HKD HK$
currency 1 0 SGD S$
currency 1 0 NZD NZ$
currency 1 0 ¥ yen Yen yens
currency 1 0 JPY
currency 1 0 CNY RMB yuan
currency 1 0 INR ₹ rupees rupee Rs
currency 1 0 SEK
currency 1 0 NOK
currency 1 0 DKK
currency 1 0 kr kroner kronor
currency 1 0 BRL R$
currency 1 0 MXN
currency 1 0 KRW ₩ won_(KRW)
currency 1 0 ₽ RUB
currency 1 0 TRY
currency 1 0 PLN zł
currency 1 0 ZAR
"""

#: Spelling → unit. Spellings of up to three letters are compared with their case: mW and MW, m and M.
UNITS: dict[str, Unit] = {}
_PHRASES: dict[str, Unit] = {}
for _line in _TABLE.strip().splitlines():
    _dimension, _factor, _offset, *_spellings = _line.split()
    _unit = Unit(_spellings[0], _dimension, Decimal(_factor), Decimal(_offset))
    for _spelling in _spellings:
        if "_" in _spelling or (not _spelling.isalpha() and len(_spelling) > 1):
            _PHRASES[_spelling.replace("_", " ").lower()] = _unit
        if "_" not in _spelling:
            UNITS[_spelling] = _unit
            if len(_spelling) > 3:
                UNITS[_spelling.lower()] = UNITS[_spelling.capitalize()] = _unit
#: Dimension → its different units; currencies are not converted.
CONVERTIBLE: dict[str, frozenset[Unit]] = {
    dimension: frozenset(unit for unit in UNITS.values() if unit.dimension == dimension)
    for dimension in {unit.dimension for unit in UNITS.values()} - {"currency", "share"}
}
#: Unit → the thousands between it and others of its dimension, by which a table's column may count.
METRIC: dict[str, tuple[int, ...]] = {
    one.name: tuple(
        power for power in (-6, -3, 3, 6) if any(one.factor == other.factor.scaleb(power) for other in units)
    )
    for units in CONVERTIBLE.values()
    for one in units
}
#: Ordinary words that are a unit only when they touch the number or are followed by a point: "5 in 2017".
AMBIGUOUS = frozenset(("in", "an", "won", "ch", "d"))
#: What a unit of several words or with a sign begins with, and the whole.
PHRASE_STARTS = frozenset(re.split(r"[^\w°%$£€]", phrase)[0] for phrase in _PHRASES) | {"%", "N", "lb", "ft"}
_PHRASE = re.compile(
    "(?:"
    + "|".join(
        re.escape(phrase).replace(r"\ ", r"[\s-]+") for phrase in sorted(_PHRASES, key=len, reverse=True)
    )
    + r")(?![^\W_])",
    re.IGNORECASE,
)

#: Spelling → power of ten.
SCALES = {
    **dict.fromkeys(("hundred", "hundert"), 2),
    **dict.fromkeys(
        ("thousand", "thousands", "tausend", "tsd", "mille", "millier", "milliers", "k", "tds"), 3
    ),
    **dict.fromkeys(("lakh", "lakhs", "lac"), 5),
    **dict.fromkeys(("million", "millions", "millionen", "mio", "mill", "mn", "mln"), 6),
    **dict.fromkeys(("crore", "crores"), 7),
    **dict.fromkeys(
        ("milliard", "milliards", "milliarde", "milliarden", "mrd", "mrds", "bn", "bln", "md", "mds"), 9
    ),
    **dict.fromkeys(("billion", "billions"), 9),
    **dict.fromkeys(("trillion", "trillions", "tn", "trn", "billionen", "bio"), 12),
}
#: Scales only beside a currency, or glued to a number that is no mere integer: $3M, 41.3B.
MONEY_SCALES = {"m": 6, "mm": 6, "b": 9, "t": 12}
#: Scale and currency in one.
SCALED_CURRENCIES = {
    "teur": (3, UNITS["EUR"]),
    "t€": (3, UNITS["EUR"]),
    "k€": (3, UNITS["EUR"]),
    "m€": (6, UNITS["EUR"]),
    "md€": (9, UNITS["EUR"]),
    "mds€": (9, UNITS["EUR"]),
    "k$": (3, UNITS["$"]),
    "m$": (6, UNITS["$"]),
}
CURRENCY_SIGNS = {sign: UNITS[sign] for sign in "$€£¥₹₩₽"}
CURRENCY_CODES = {
    name: unit
    for name, unit in UNITS.items()
    if unit.dimension == "currency" and len(name) == 3 and name.isupper()
}
#: The letters before a dollar sign.
DOLLARS = {
    "US": "USD",
    "C": "CAD",
    "CA": "CAD",
    "A": "AUD",
    "AU": "AUD",
    "HK": "HKD",
    "S": "SGD",
    "NZ": "NZD",
    "R": "BRL",
}
_DOLLARS = frozenset(("USD", "CAD", "AUD", "HKD", "SGD", "NZD"))
_MAYBE_SAME = ({"$", *_DOLLARS}, {"¥", "JPY", "CNY"}, {"kr", "SEK", "NOK", "DKK"}, {"lb", "GBP"}, {"%", "pp"})


def unit_phrase(text: str, start: int) -> tuple[Unit, int] | None:
    """Return the unit of several words, or with a sign in it, that begins here, and its end."""
    match = _PHRASE.match(text, start)
    if match is None:
        return None
    found = match[0].lower()
    return _PHRASES.get(found) or _PHRASES[re.sub(r"[\s-]+", " ", found)], match.end()


def may_be_same(one: str, other: str) -> bool:
    """Return whether two names of units may mean one: "$" and "CAD" do, "CAD" and "USD" do not."""
    if one == other:
        return True
    if one in _DOLLARS and other in _DOLLARS:
        return False
    return any(one in same and other in same for same in _MAYBE_SAME)
