package dev.culvert.appproxy.git;

import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.quota.Quota;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;
import reactor.core.publisher.SynchronousSink;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Runs one {@code git http-backend} process. The request body is written to its standard input, its standard
 * output is the response, and the pipes carry back-pressure. A run ends exactly once.
 */
final class GitRun {
    private static final Logger LOG = LoggerFactory.getLogger(GitRun.class);

    /** Half of a Linux pipe. */
    private static final int READ_BYTES = 32 << 10;

    /** The number of buffers of the request body that wait for the pipe, at most 64 KiB each. */
    private static final int BODY_PREFETCH = 4;

    /** The number of bytes of standard error that are logged. */
    private static final int ERROR_TEXT_BYTES = 4 << 10;

    /**
     * The seconds after SIGTERM, on which Git ends its own children, until remaining processes get SIGKILL.
     */
    private static final long TERM_SECONDS = 2;

    private final Scheduler io;
    private final Scheduler clock;
    private final CallerWait upload;
    private final CallerWait download;
    private final String requestId;
    private final Duration maxDuration;
    private final Consumer<GitRun> ended;
    private final Sinks.Empty<Void> bodySent = Sinks.empty();
    private final AtomicBoolean outputOpen = new AtomicBoolean(true);
    private final AtomicInteger openParts = new AtomicInteger(2);
    private final AtomicBoolean answered = new AtomicBoolean();
    private final AtomicBoolean terminating = new AtomicBoolean();

    private volatile Quota<Object>.@Nullable Claim place;
    private volatile @Nullable HandlerException reason;
    private volatile boolean killed;
    private volatile boolean outputTaken;
    /** The size of the last buffer emitted to the caller. Used by the reading thread alone. */
    private int emitted;
    private volatile @Nullable Process process;
    private volatile @Nullable Disposable feeding;
    private volatile @Nullable Disposable limit;
    private volatile @Nullable Disposable watch;

    /**
     * Makes a run that has not begun.
     *
     * @param clock measures the waits for the caller
     * @param ended called once, when the process has ended or will never start, and its output is read or
     *        dropped
     */
    GitRun(Scheduler io, Scheduler clock, String requestId, Duration maxDuration, Consumer<GitRun> ended) {
        this.io = io;
        this.clock = clock;
        this.upload = new CallerWait(clock);
        this.download = new CallerWait(clock);
        this.requestId = requestId;
        this.maxDuration = maxDuration;
        this.ended = ended;
    }

    /** Gives the run its place, which it holds until it ends or gives way. */
    void at(Quota<Object>.Claim taken) {
        place = taken;
    }

    /** Ends the run because another caller has taken its place. */
    void giveWay() {
        reason = GitBackend.busy();
        kill();
    }

    /** Releases the place and ends the run. Returns false if it no longer had a place. */
    boolean leave() {
        Quota<Object>.Claim taken = place;
        if (taken == null || taken.held() == 0) {
            return false;
        }
        taken.close();
        giveWay();
        return true;
    }

    /**
     * The time left to the caller to read the response when others wait, in nanoseconds; negative when it
     * reads too slowly.
     */
    long leftNanos() {
        return killed ? Long.MAX_VALUE : download.leftNanos();
    }

    /** Completes when the whole request body is written to the process. */
    Mono<Void> bodySent() {
        return bodySent.asMono();
    }

    /** Starts the process and emits the response with its head. Blocks until the head is read. */
    void begin(Command command, Flux<ByteBuf> body, MonoSink<EdgeResponse> response) {
        try {
            Process started = killed ? null : command.prepare().start();
            if (started == null) {
                failed(response, stopped());
                return;
            }
            process = started;
            limit = Schedulers.parallel().schedule(this::kill, maxDuration.toMillis(), TimeUnit.MILLISECONDS);
            watch = clock.schedulePeriodically(() -> lookAtUpload(response), 1, 1, TimeUnit.SECONDS);
            started.onExit().thenRun(this::processEnded);
            if (killed) {
                terminate(started);
                failed(response, stopped());
                return;
            }
            io.schedule(() -> logErrorText(started.getErrorStream()));
            feeding = feed(started.getOutputStream(), body, response);
            InputStream out = started.getInputStream();
            CgiHead head = CgiHead.read(out);
            if (!answered.compareAndSet(false, true)) {
                return; // the request's body failed, and the process was killed
            }
            download.begins();
            response.success(
                    EdgeResponse.Http.streaming(head.status(), head.headers(), output(started, out)));
            giveUpOutput();
        } catch (HandlerException e) {
            failed(response, e);
        } catch (IOException | UncheckedIOException e) {
            if (!killed) {
                LOG.atWarn()
                        .addKeyValue("requestId", requestId)
                        .addKeyValue("error", e.getMessage())
                        .log("git http-backend returned no valid response");
            }
            failed(response,
                    HandlerException.of(Reason.UPSTREAM_BAD_RESPONSE, "Git returned no valid response"));
        }
    }

    /** Ends the process and its children, now or as soon as it starts. Returns at once. */
    void kill() {
        killed = true;
        giveUpOutput();
        Process running = process;
        if (running != null && terminating.compareAndSet(false, true)) {
            io.schedule(() -> terminate(running));
        }
    }

    private void failed(MonoSink<EdgeResponse> response, Throwable error) {
        kill();
        outputEnded();
        if (process == null) {
            partEnded();
        }
        if (answered.compareAndSet(false, true)) {
            HandlerException why = reason;
            response.error(why == null ? error : why);
        }
    }

    /** Fails a run whose caller sends too slowly and so keeps a process from others. */
    private void lookAtUpload(MonoSink<EdgeResponse> response) {
        if (upload.leftNanos() < 0) {
            failed(response,
                    HandlerException.of(Reason.REQUEST_TIMEOUT, "the request did not arrive in time"));
        }
    }

    private static HandlerException stopped() {
        return HandlerException.of(Reason.UPSTREAM_BAD_RESPONSE, "Git was stopped before it answered");
    }

    private Disposable feed(OutputStream in, Flux<ByteBuf> body, MonoSink<EdgeResponse> response) {
        upload.begins();
        return body.publishOn(io, BODY_PREFETCH)
                .doOnDiscard(ByteBuf.class, ByteBuf::release)
                .subscribe(buffer -> write(in, buffer), error -> failed(response, error),
                        () -> closeInput(in));
    }

    private void write(OutputStream in, ByteBuf buffer) {
        upload.ends(buffer.readableBytes());
        try {
            buffer.readBytes(in, buffer.readableBytes());
            in.flush();
        } catch (IOException e) {
            // Git stopped reading: it has answered, or will. The rest of the body is dropped.
            Disposable running = feeding;
            if (running != null) {
                running.dispose();
            }
            stopWatch();
        } finally {
            buffer.release();
            upload.begins();
        }
    }

    private void closeInput(OutputStream in) {
        upload.ends(0);
        stopWatch();
        try {
            in.close();
        } catch (IOException e) {
            LOG.atDebug().addKeyValue("requestId", requestId).log("git closed its input first");
        }
        bodySent.tryEmitEmpty();
    }

    private Flux<ByteBuf> output(Process running, InputStream out) {
        return Flux.<ByteBuf>generate(sink -> read(running, out, sink))
                .subscribeOn(io)
                .doOnSubscribe(subscription -> outputTaken = true)
                .doOnCancel(this::kill)
                .doFinally(signal -> outputEnded());
    }

    private void read(Process running, InputStream out, SynchronousSink<ByteBuf> sink) {
        download.ends(emitted);
        emitted = 0;
        ByteBuf buffer = ByteBufAllocator.DEFAULT.buffer(READ_BYTES);
        try {
            if (buffer.writeBytes(out, READ_BYTES) > 0 && !killed) {
                emitted = buffer.readableBytes();
                download.begins();
                sink.next(buffer);
                return;
            }
            buffer.release();
            finish(running.waitFor(), sink);
        } catch (IOException e) {
            buffer.release();
            sink.error(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            sink.error(e);
        }
    }

    /**
     * Ends the output. Exit code 1 means that the service failed and has reported that in Git's own protocol.
     */
    private void finish(int exitCode, SynchronousSink<ByteBuf> sink) {
        if (exitCode != 0) {
            LOG.atWarn()
                    .addKeyValue("requestId", requestId)
                    .addKeyValue("exitCode", exitCode)
                    .log("git http-backend failed");
        }
        if (killed || exitCode > 1) {
            sink.error(new IOException("git http-backend ended with " + exitCode));
        } else {
            sink.complete();
        }
    }

    private void logErrorText(InputStream err) {
        try (err) {
            String text = new String(err.readNBytes(ERROR_TEXT_BYTES), StandardCharsets.UTF_8);
            err.transferTo(OutputStream.nullOutputStream());
            if (!text.isBlank() && !killed) {
                LOG.atWarn()
                        .addKeyValue("requestId", requestId)
                        .addKeyValue("stderr", text.strip().replaceAll("\\p{Cntrl}+", " | "))
                        .log("git wrote to its standard error");
            }
        } catch (IOException e) {
            LOG.atDebug().addKeyValue("requestId", requestId).log("git's standard error was cut off");
        }
    }

    private void terminate(Process running) {
        terminating.set(true);
        Disposable body = feeding;
        if (body != null) {
            body.dispose();
        }
        List<ProcessHandle> children = running.descendants().toList();
        running.destroy();
        try {
            if (!running.waitFor(TERM_SECONDS, TimeUnit.SECONDS)) {
                running.destroyForcibly();
            }
        } catch (InterruptedException e) {
            running.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        children.forEach(ProcessHandle::destroyForcibly);
    }

    private void processEnded() {
        Disposable timer = limit;
        if (timer != null) {
            timer.dispose();
        }
        stopWatch();
        partEnded();
    }

    private void stopWatch() {
        Disposable looking = watch;
        if (looking != null) {
            looking.dispose();
        }
    }

    /**
     * Marks the output of a killed process as ended if it has no reader: its response was dropped on the way.
     */
    private void giveUpOutput() {
        if (killed && !outputTaken) {
            outputEnded();
        }
    }

    private void outputEnded() {
        if (outputOpen.compareAndSet(true, false)) {
            partEnded();
        }
    }

    /** Counts the ends of process and output. A run is over after both, because both hold threads. */
    private void partEnded() {
        if (openParts.decrementAndGet() == 0) {
            Quota<Object>.Claim taken = place;
            if (taken != null) {
                taken.close();
            }
            ended.accept(this);
        }
    }

    /** Prepares the process. May block. */
    @FunctionalInterface
    interface Command {
        ProcessBuilder prepare() throws IOException;
    }
}
