package dev.culvert.launcher.logging;

import dev.culvert.config.Setting;

/**
 * The log settings of a service.
 *
 * @param logFormat the format of log lines, for people or for machines
 * @param logLevel the least severe level that is logged
 */
public record LogSettings(
        @Setting(value = "Format of log lines on standard output; text, for people, unless a collector reads them", byDefault = "text") Format logFormat,
        @Setting(value = "The least severe level that is logged; info logs only life cycles, debug every request", byDefault = "info") Level logLevel) {

    /** The format of a log line. */
    public enum Format {
        TEXT, JSON
    }

    /** The severity, with SLF4J's names. */
    public enum Level {
        TRACE, DEBUG, INFO, WARN, ERROR
    }
}
