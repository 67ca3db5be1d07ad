package dev.culvert.e2e;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.filter.ThresholdFilter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.AppenderBase;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.LoggerFactory;

/** Keeps what parts and libraries log until it is closed. What is printed stays as it was. */
final class LogLines implements AutoCloseable {
    private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final Level before = Objects.requireNonNull(root.getLevel());
    private final List<Appender<ILoggingEvent>> printers = new ArrayList<>();
    private final Queue<String> lines = new ConcurrentLinkedQueue<>();
    private final AppenderBase<ILoggingEvent> keeper = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            String cause = event.getThrowableProxy() == null
                    ? ""
                    : ThrowableProxyUtil.asString(event.getThrowableProxy());
            lines.add(event.getFormattedMessage() + " " + event.getKeyValuePairs() + " "
                    + event.getMDCPropertyMap() + " " + cause);
        }
    };

    /** Keeps all, at any level. */
    LogLines() {
        this(Level.TRACE);
    }

    /** @param level of libraries; parts log from INFO on */
    LogLines(Level level) {
        root.iteratorForAppenders().forEachRemaining(printers::add);
        for (Appender<ILoggingEvent> printer : printers) {
            var filter = new ThresholdFilter();
            filter.setLevel(before.levelStr);
            filter.start();
            printer.addFilter(filter);
        }
        keeper.setContext(root.getLoggerContext());
        keeper.start();
        root.addAppender(keeper);
        root.setLevel(level);
    }

    /** Everything so far. */
    List<String> all() {
        return List.copyOf(lines);
    }

    @Override
    public void close() {
        root.setLevel(before);
        root.detachAppender(keeper);
        printers.forEach(Appender::clearAllFilters);
    }
}
