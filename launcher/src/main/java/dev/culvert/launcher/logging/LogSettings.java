package dev.culvert.launcher.logging;

import dev.culvert.config.Setting;

/**
 * How a part logs.
 *
 * @param logFormat lines for people or for machines
 * @param logLevel what is left out
 */
public record LogSettings(
        @Setting(value = "How log lines on standard output look; text, for people, unless a collector reads them", byDefault = "text") Format logFormat,
        @Setting(value = "The least severe level that is logged; info tells life cycles only, debug every request", byDefault = "info") Level logLevel) {

    /** The shape of a log line. */
    public enum Format {
        TEXT, JSON
    }

    /** Severity, as SLF4J names it. */
    public enum Level {
        TRACE, DEBUG, INFO, WARN, ERROR
    }
}
