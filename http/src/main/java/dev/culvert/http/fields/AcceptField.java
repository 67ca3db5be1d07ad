package dev.culvert.http.fields;

/**
 * What an {@code Accept} field (RFC 9110 §12.5.1) says about the forms that a problem has. Ranges beyond the bounds of
 * {@link FieldList} are ignored.
 */
public final class AcceptField {
    private AcceptField() {}

    /**
     * Whether HTML is wanted rather than JSON: its weight is higher than that of {@code application/problem+json} and that of
     * {@code application/json}. A tie, as {@code *}{@code /*} is one, is for JSON.
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

    /** The weight of one media type: that of the most specific range that holds it (RFC 9110 §12.5.1). */
    private static final class Weight {
        /** Of a weight of 1: three digits stand behind its point. */
        private static final int WHOLE = 1000;

        private final String type;
        private final String subtype;
        private int specificity;
        private int thousandths;

        Weight(String type, String subtype) {
            this.type = type;
            this.subtype = subtype;
        }

        /** Of ranges that are equally specific the first one counts. */
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

        /** RFC 9110 §12.4.2; what is no weight counts as 0: such a range is better not trusted. */
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

        /** 0 or 1, a point, and three digits at most; behind a 1 they are zeros. */
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
