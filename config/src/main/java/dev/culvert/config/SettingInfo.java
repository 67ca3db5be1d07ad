package dev.culvert.config;

import java.util.Locale;

/**
 * One setting, as {@code --help} and docs/config.md list it.
 *
 * @param key the dotted key, {@code edge.tls.key}; {@code routes[].path} inside a list, {@code handlers.*}
 *     inside a map
 * @param type a description of the accepted values
 * @param byDefault the default in the notation of the file; empty if there is none
 * @param doc the description, in one line
 * @param required whether it must be set
 * @param group the optional group of the setting, or empty; the setting is required only if the group is used
 * @param fileOnly whether only the file can set it, not a flag or a variable
 * @param isSwitch whether the flag may be given without a value
 * @param ownVariable the environment variable, if it is not the one that the key's words make; else empty
 */
public record SettingInfo(String key, String type, String byDefault, String doc, boolean required,
        String group, boolean fileOnly,
        boolean isSwitch, String ownVariable) {

    /** The flag: {@code --edge-tls-key}. */
    public String flag() {
        return "--" + words('-');
    }

    /** The environment variable: {@code CULVERT_EDGE_TLS_KEY}. */
    public String variable() {
        return ownVariable.isEmpty() ? variableOfWords() : ownVariable;
    }

    /** The variable that the key's words make, which sets something else if there is an own variable. */
    public String variableOfWords() {
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
