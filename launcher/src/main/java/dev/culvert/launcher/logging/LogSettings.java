package dev.culvert.launcher.logging;

import dev.culvert.config.Setting;

/**
 * The log settings of a service.
 *
 * @param logFormat the format of log lines, for people or for machines
 * @param logLevel the least severe level that is logged
 */
public record LogSettings(
        @Setting(value = "How log lines on standard output look; text, for people, unless a collector reads them", byDefault = "text") Format logFormat,
        @Setting(value = "The least severe level that is logged; info tells life cycles only, debug every request", byDefault = "info") Level logLevel) {

    /** The format of a log line. */
    public enum Format {
        TEXT, JSON
    }

    /** The severity, with SLF4J's names. */
    public enum Level {
        TRACE, DEBUG, INFO, WARN, ERROR
    }
}
