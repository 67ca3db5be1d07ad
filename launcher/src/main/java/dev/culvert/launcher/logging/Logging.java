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

/** Configures logback by code, so that no configuration file is searched at the start. */
public final class Logging {
    /** The maximum number of lines that wait to be written. */
    private static final int MAX_WAITING = 8192;

    private Logging() {}

    /** Logs to standard output, for services. */
    public static void toStandardOutput(LogSettings settings) {
        boolean json = settings.logFormat() == LogSettings.Format.JSON;
        configure("System.out", json, Level.valueOf(settings.logLevel().name()));
        if (LoggerFactory.getLogger("access") instanceof Logger access) {
            access.setLevel(Level.INFO); // a separate key turns it off
        }
    }

    /**
     * Logs to standard error, until a service is configured and for commands that print their result on
     * standard output.
     */
    public static void toStandardError() {
        configure("System.err", false, Level.WARN);
    }

    /** Logs only errors, to standard error, for commands that tell a person all else in their own words. */
    public static void errorsToStandardError() {
        configure("System.err", false, Level.ERROR);
    }

    private static void configure(String target, boolean json, Level level) {
        if (!(LoggerFactory.getILoggerFactory() instanceof LoggerContext context)) {
            return; // the embedding program uses another logging library, which decides
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
        // Reactor Netty logs errors with stack traces at WARN that the gateway's own code receives and logs
        // too.
        context.getLogger("reactor.netty")
                .setLevel(level.isGreaterOrEqual(Level.INFO) ? Level.ERROR : Level.WARN);
    }

    /**
     * Puts a queue before the appender. If the reader of standard output stalls, lines are dropped, so that
     * event loops never block.
     */
    private static Appender<ILoggingEvent> behindQueue(LoggerContext context,
            Appender<ILoggingEvent> appender) {
        var queue = new AsyncAppender();
        queue.setContext(context);
        queue.setQueueSize(MAX_WAITING);
        queue.setDiscardingThreshold(0); // drops lines of all levels alike, and only when the queue is full
        queue.setNeverBlock(true);
        queue.addAppender(appender);
        queue.start();
        return queue;
    }

    /** Writes the queued lines within at most one second. Later events are not logged. */
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
