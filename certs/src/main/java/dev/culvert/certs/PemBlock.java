package dev.culvert.certs;

import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One block of a PEM text. */
final class PemBlock {
    private static final Pattern BEGIN = Pattern.compile("-----BEGIN ([A-Z0-9 ]{1,64})-----\\s*?\\R");

    private final String label;
    private final byte[] content;

    private PemBlock(String label, byte[] content) {
        this.label = label;
        this.content = content;
    }

    /** The label after BEGIN. */
    String label() {
        return label;
    }

    /** The decoded bytes, not copied. */
    byte[] content() {
        return content;
    }

    /**
     * Parses all blocks in order. Throws {@link CertsException} for a block that does not end or is not
     * base64.
     */
    static List<PemBlock> all(String text) {
        if (text.length() > Pem.MAX_TEXT_CHARS) {
            throw new CertsException(
                    text.length() + " characters of PEM (expected: at most " + Pem.MAX_TEXT_CHARS + ")");
        }
        List<PemBlock> blocks = new ArrayList<>();
        Matcher begin = BEGIN.matcher(text);
        for (int from = 0; begin.find(from);) {
            String label = begin.group(1);
            String footer = "-----END " + label + "-----";
            int end = text.indexOf(footer, begin.end());
            if (end < 0) {
                throw new CertsException("a PEM block without its end (expected: " + footer + ")");
            }
            blocks.add(new PemBlock(label, decode(label, text.substring(begin.end(), end))));
            from = end + footer.length();
        }
        return blocks;
    }

    private static byte[] decode(String label, String body) {
        try {
            return Base64.getDecoder().decode(body.replaceAll("[ \\t\\r\\n]", ""));
        } catch (IllegalArgumentException e) {
            // The cause quotes characters of the text, which may be a key.
            throw new CertsException("a PEM block " + label + " whose content is not base64");
        }
    }
}
