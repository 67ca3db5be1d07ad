package dev.culvert.launcher.logging;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.encoder.EncoderBase;
import org.jspecify.annotations.Nullable;

/** An encoder of log events as lines, without a header or a footer of the whole log. */
abstract class LineEncoder extends EncoderBase<ILoggingEvent> {
    private final LogText.StackTraces errors = new LogText.StackTraces();

    @Override
    public void start() {
        errors.start();
        super.start();
    }

    @Override
    public byte @Nullable [] headerBytes() {
        return null;
    }

    @Override
    public byte @Nullable [] footerBytes() {
        return null;
    }

    /** The escaped stack trace of an event's error; empty without one. */
    final String stackTrace(ILoggingEvent event) {
        return errors.convert(event);
    }
}
