package dev.culvert.config;

/**
 * A configuration value that can't be used. Thrown by compact constructors with the bare component name as key; the
 * binder adds the path of keys, the origin (file and line, variable or flag) and the value.
 */
public final class ConfigException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String key;
    private final String expected;

    /**
     * @param key the component, or the dotted key, that is wrong
     * @param expected what is accepted, and what to do: {@code "1..4; remove the key for the default 2"}
     */
    public ConfigException(String key, String expected) {
        super(key + ": expected " + expected, null, false, false);
        this.key = key;
        this.expected = expected;
    }

    public String key() {
        return key;
    }

    public String expected() {
        return expected;
    }
}
