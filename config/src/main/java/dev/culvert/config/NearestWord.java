package dev.culvert.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds the known word that is nearest to an unknown one. */
final class NearestWord {
    /**
     * Longer words are cut, because the time to compute the distance is quadratic in the length and users
     * choose their keys.
     */
    private static final int MAX_LENGTH = 64;

    private NearestWord() {}

    /** Returns the nearest of the known words at any distance. Empty only if there are no known words. */
    static Optional<String> to(String word, Collection<String> known) {
        return known.stream().min(Comparator.comparingInt(candidate -> distance(word, candidate)));
    }

    /** Names the nearest of the known words, for the end of a message; empty if there are no known words. */
    static String hint(String word, Collection<String> known) {
        return to(word, known).map(near -> " (nearest: " + near + ")").orElse("");
    }

    /** The number of edits (insert, delete, replace, swap of neighbours) between two words, ignoring case. */
    static int distance(String one, String other) {
        String a = cut(one);
        String b = cut(other);
        int[][] edits = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                edits[i][j] = i == 0 || j == 0 ? i + j : step(a, b, i, j, edits);
            }
        }
        return edits[a.length()][b.length()];
    }

    private static int step(String a, String b, int i, int j, int[][] edits) {
        int cost = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        int best = Math.min(edits[i - 1][j - 1] + cost, Math.min(edits[i - 1][j], edits[i][j - 1]) + 1);
        boolean swapped = i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2)
                && a.charAt(i - 2) == b.charAt(j - 1);
        return swapped ? Math.min(best, edits[i - 2][j - 2] + 1) : best;
    }

    private static String cut(String word) {
        String lower = word.toLowerCase(Locale.ROOT);
        return lower.length() > MAX_LENGTH ? lower.substring(0, MAX_LENGTH) : lower;
    }
}
