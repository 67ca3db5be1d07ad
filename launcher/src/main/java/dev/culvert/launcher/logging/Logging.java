package dev.culvert.launcher.logging;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import org.slf4j.LoggerFactory;

/** Sets up logback by code: there is no file to find, and nothing is scanned at start. */
public final class Logging {
    /** Lines that wait to be written. */
    private static final int MAX_WAITING = 8192;

    private Logging() {}

    /** Long-running parts log to standard output. */
    public static void toStandardOutput(LogSettings settings) {
        boolean json = settings.logFormat() == LogSettings.Format.JSON;
        configure("System.out", json, Level.valueOf(settings.logLevel().name()));
        if (LoggerFactory.getLogger("access") instanceof Logger access) {
            access.setLevel(Level.INFO); // a key of its own turns it off
        }
    }

    /** Until a part is configured, and for commands that keep standard output for their result. */
    public static void toStandardError() {
        configure("System.err", false, Level.WARN);
    }

    private static void configure(String target, boolean json, Level level) {
        if (!(LoggerFactory.getILoggerFactory() instanceof LoggerContext context)) {
            return; // embedded below another logging library: that one decides
        }
        context.reset();
        var appender = new ConsoleAppender<ILoggingEvent>();
        appender.setContext(context);
        appender.setTarget(target);
        appender.setEncoder(encoder(context, json));
        appender.start();
        Appender<ILoggingEvent> out = target.equals("System.out") ? behindQueue(context, appender) : appender;
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.setLevel(level.isGreaterOrEqual(Level.INFO) ? level : Level.INFO);
        root.addAppender(out);
        context.getLogger("dev.culvert").setLevel(level);
        // It warns, with stack traces, of errors that reach our own code and are told there.
        context.getLogger("reactor.netty")
                .setLevel(level.isGreaterOrEqual(Level.INFO) ? Level.ERROR : Level.WARN);
    }

    /** Whoever reads standard output may stop doing so: event loops never wait for that, lines are dropped instead. */
    private static Appender<ILoggingEvent> behindQueue(LoggerContext context,
            Appender<ILoggingEvent> appender) {
        var queue = new AsyncAppender();
        queue.setContext(context);
        queue.setQueueSize(MAX_WAITING);
        queue.setDiscardingThreshold(0); // all levels alike, and only when it is full
        queue.setNeverBlock(true);
        queue.addAppender(appender);
        queue.start();
        return queue;
    }

    /** Writes what waits, for a second at most. Nothing is logged afterwards. */
    public static void end() {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).detachAndStopAllAppenders();
        }
    }

    private static Encoder<ILoggingEvent> encoder(LoggerContext context, boolean json) {
        Encoder<ILoggingEvent> encoder = json ? new JsonLogEncoder() : new TextLogEncoder();
        encoder.setContext(context);
        encoder.start();
        return encoder;
    }
}
