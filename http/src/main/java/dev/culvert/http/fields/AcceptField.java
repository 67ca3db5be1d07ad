package dev.culvert.http.fields;

/**
 * Compares the weights that an {@code Accept} field (RFC 9110 §12.5.1) gives to the representations of a
 * problem. Ranges beyond the bounds of {@link FieldList} are ignored.
 */
public final class AcceptField {
    private AcceptField() {}

    /**
     * Whether the client prefers HTML to JSON: the weight of {@code text/html} is higher than those of {@code
     * application/problem+json} and {@code application/json}. At equal weights, as {@code *}{@code /*} gives
     * them, JSON wins.
     */
    public static boolean prefersHtml(CharSequence accept) {
        var html = new Weight("text", "html");
        var problem = new Weight("application", "problem+json");
        var json = new Weight("application", "json");
        for (var ranges = new FieldList(accept); ranges.next();) {
            html.range(accept, ranges.from(), ranges.to());
            problem.range(accept, ranges.from(), ranges.to());
            json.range(accept, ranges.from(), ranges.to());
        }
        return html.thousandths > 0 && html.thousandths > problem.thousandths
                && html.thousandths > json.thousandths;
    }

    /** The weight of one media type. The most specific range that matches it decides (RFC 9110 §12.5.1). */
    private static final class Weight {
        /** Thousandths of a weight of 1: a weight has at most three decimals. */
        private static final int WHOLE = 1000;

        private final String type;
        private final String subtype;
        private int specificity;
        private int thousandths;

        Weight(String type, String subtype) {
            this.type = type;
            this.subtype = subtype;
        }

        /** Applies one range. Among equally specific ranges the first one counts. */
        void range(CharSequence text, int from, int to) {
            int end = indexOf(text, ';', from, to);
            int how = specificity(text, from, end);
            if (how > specificity) {
                specificity = how;
                thousandths = weight(text, end, to);
            }
        }

        private int specificity(CharSequence text, int from, int parameters) {
            int to = FieldList.trimSpace(text, from, parameters);
            int slash = indexOf(text, '/', from, to);
            if (slash == to) {
                return 0;
            }
            boolean any = FieldList.isRegion(text, slash + 1, to, "*");
            if (FieldList.isRegion(text, from, slash, type)) {
                return FieldList.isRegion(text, slash + 1, to, subtype) ? 3 : any ? 2 : 0;
            }
            return any && FieldList.isRegion(text, from, slash, "*") ? 1 : 0;
        }

        /**
         * Reads the weight of a range (RFC 9110 §12.4.2). An invalid weight counts as 0, so the range is not
         * acceptable.
         */
        private static int weight(CharSequence text, int parameters, int to) {
            for (int at = parameters; at < to;) {
                int end = indexOf(text, ';', at + 1, to);
                int from = FieldList.skipSpace(text, at + 1, end);
                if (end - from >= 2 && FieldList.isRegion(text, from, from + 2, "q=")) {
                    return thousandths(text, from + 2, FieldList.trimSpace(text, from + 2, end));
                }
                at = end;
            }
            return WHOLE;
        }

        /** Reads 0 or 1, a point, and at most three decimals. After a 1 all decimals are zeros. */
        private static int thousandths(CharSequence text, int from, int to) {
            int most = 5;
            if (from == to || to - from > most || text.charAt(from) != '0' && text.charAt(from) != '1'
                    || to - from > 1 && text.charAt(from + 1) != '.') {
                return 0;
            }
            int value = text.charAt(from) == '1' ? WHOLE : 0;
            int worth = WHOLE;
            for (int i = from + 2; i < to; i++) {
                char digit = text.charAt(i);
                if (digit < '0' || digit > '9') {
                    return 0;
                }
                worth /= 10;
                value += (digit - '0') * worth;
            }
            return value <= WHOLE ? value : 0;
        }

        private static int indexOf(CharSequence text, char wanted, int from, int to) {
            int at = from;
            while (at < to && text.charAt(at) != wanted) {
                at++;
            }
            return at;
        }
    }
}
