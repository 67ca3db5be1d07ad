package dev.culvert.edge;

/** What an {@code Accept} field (RFC 9110 §12.5.1) says about the forms that a problem has. */
final class AcceptField {
    private AcceptField() {}

    /**
     * Whether HTML is wanted rather than JSON: its weight is higher than that of {@code application/problem+json} and that of
     * {@code application/json}. A tie, as {@code *}{@code /*} is one, is for JSON.
     */
    static boolean prefersHtml(CharSequence accept) {
        int html = Weight.of("text", "html").in(accept);
        return html > 0 && html > Weight.of("application", "problem+json").in(accept)
                && html > Weight.of("application", "json").in(accept);
    }

    /** The weight of one media type: that of the most specific range that holds it (RFC 9110 §12.5.1). */
    private static final class Weight {
        /** Of a weight of 1: three digits stand behind its point. */
        private static final int WHOLE = 1000;

        private final String type;
        private final String subtype;
        private int specificity;
        private int thousandths;

        private Weight(String type, String subtype) {
            this.type = type;
            this.subtype = subtype;
        }

        static Weight of(String type, String subtype) {
            return new Weight(type, subtype);
        }

        int in(CharSequence accept) {
            for (String range : accept.toString().split(",", -1)) {
                String[] parts = range.split(";", -1);
                int how = specificity(parts[0].trim());
                if (how > specificity) {
                    specificity = how;
                    thousandths = weight(parts);
                }
            }
            return thousandths;
        }

        private int specificity(String range) {
            int slash = range.indexOf('/');
            if (slash < 0) {
                return 0;
            }
            String left = range.substring(0, slash);
            String right = range.substring(slash + 1);
            if (left.equalsIgnoreCase(type)) {
                return right.equalsIgnoreCase(subtype) ? 3 : right.equals("*") ? 2 : 0;
            }
            return left.equals("*") && right.equals("*") ? 1 : 0;
        }

        /** RFC 9110 §12.4.2; what is no weight counts as 0: such a range is better not trusted. */
        private static int weight(String[] parts) {
            for (int i = 1; i < parts.length; i++) {
                String parameter = parts[i].trim();
                if (parameter.regionMatches(true, 0, "q=", 0, 2)) {
                    return thousandths(parameter.substring(2));
                }
            }
            return WHOLE;
        }

        private static int thousandths(String text) {
            if (text.matches("1(\\.0{0,3})?")) {
                return WHOLE;
            }
            return text.matches("0(\\.[0-9]{0,3})?")
                    ? Integer.parseInt((text + (text.length() == 1 ? "." : "") + "000").substring(2, 5))
                    : 0;
        }
    }
}
