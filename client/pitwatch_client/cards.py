"""Playing cards as the service names them."""

from enum import StrEnum


class Card(StrEnum):
    """One card face, written rank then suit: ``AS``, ``TD``, ``9C``; ``A?`` is of any suit.

    A wholly unknown card is ``None``, never a member.
    """

    AS, AH, AD, AC, ANY_A = "AS", "AH", "AD", "AC", "A?"
    TWO_S, TWO_H, TWO_D, TWO_C, ANY_2 = "2S", "2H", "2D", "2C", "2?"
    THREE_S, THREE_H, THREE_D, THREE_C, ANY_3 = "3S", "3H", "3D", "3C", "3?"
    FOUR_S, FOUR_H, FOUR_D, FOUR_C, ANY_4 = "4S", "4H", "4D", "4C", "4?"
    FIVE_S, FIVE_H, FIVE_D, FIVE_C, ANY_5 = "5S", "5H", "5D", "5C", "5?"
    SIX_S, SIX_H, SIX_D, SIX_C, ANY_6 = "6S", "6H", "6D", "6C", "6?"
    SEVEN_S, SEVEN_H, SEVEN_D, SEVEN_C, ANY_7 = "7S", "7H", "7D", "7C", "7?"
    EIGHT_S, EIGHT_H, EIGHT_D, EIGHT_C, ANY_8 = "8S", "8H", "8D", "8C", "8?"
    NINE_S, NINE_H, NINE_D, NINE_C, ANY_9 = "9S", "9H", "9D", "9C", "9?"
    TS, TH, TD, TC, ANY_T = "TS", "TH", "TD", "TC", "T?"
    JS, JH, JD, JC, ANY_J = "JS", "JH", "JD", "JC", "J?"
    QS, QH, QD, QC, ANY_Q = "QS", "QH", "QD", "QC", "Q?"
    KS, KH, KD, KC, ANY_K = "KS", "KH", "KD", "KC", "K?"

    @property
    def rank(self) -> str:
        """``A``, ``2`` … ``9``, ``T``, ``J``, ``Q``, ``K``."""
        return self.value[0]

    @property
    def suit(self) -> str:
        """``S``, ``H``, ``D``, ``C``; ``?`` where it is not known."""
        return self.value[1]
