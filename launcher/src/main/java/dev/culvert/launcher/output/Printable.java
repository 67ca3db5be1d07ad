package dev.culvert.launcher.output;

/** Texts of peers as a terminal can show them: none steers it. */
public final class Printable {
    private Printable() {}

    /** A text whose controls, invisible characters and lone surrogates are question marks. */
    public static String of(String text) {
        var plain = new StringBuilder(text.length());
        text.codePoints().map(each -> isPrintable(each) ? each : '?').forEach(plain::appendCodePoint);
        return plain.toString();
    }

    /** The same of at most {@code most} characters, cut with an ellipsis. */
    public static String of(String text, int most) {
        return of(text.length() > most ? text.substring(0, most) + "…" : text);
    }

    private static boolean isPrintable(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.PRIVATE_USE,
                    Character.UNASSIGNED, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR ->
                false;
            default -> true;
        };
    }
}
