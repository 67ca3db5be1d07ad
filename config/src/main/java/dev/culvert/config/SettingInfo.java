package dev.culvert.config;

import java.util.Locale;

/**
 * One setting as {@code --help} and docs/config.md list it.
 *
 * @param key dotted, {@code edge.tls.key}; {@code routes[].path} inside a list, {@code handlers.*} inside a map
 * @param type what is accepted, in words
 * @param byDefault the default as one would write it; empty when there is none
 * @param doc what it is, in one line
 * @param required whether it must be set
 * @param group the optional group it belongs to: it is required only when that group is used; empty for none
 * @param fileOnly whether neither flag nor environment can set it
 * @param isSwitch whether the flag may stand without a value
 */
public record SettingInfo(String key, String type, String byDefault, String doc, boolean required,
        String group, boolean fileOnly,
        boolean isSwitch) {

    /** {@code --edge-tls-key}. */
    public String flag() {
        return "--" + words('-');
    }

    /** {@code CULVERT_EDGE_TLS_KEY}. */
    public String variable() {
        return "CULVERT_" + words('_').toUpperCase(Locale.ROOT);
    }

    private String words(char separator) {
        var text = new StringBuilder();
        for (int i = 0; i < key.length(); i++) {
            char c = key.charAt(i);
            if (c == '.') {
                text.append(separator);
            } else if (Character.isUpperCase(c)) {
                text.append(separator).append(Character.toLowerCase(c));
            } else {
                text.append(c);
            }
        }
        return text.toString();
    }
}
