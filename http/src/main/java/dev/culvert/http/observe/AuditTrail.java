package dev.culvert.http.observe;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.config.Reason;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Records changes and the users that made them, as JSON lines in files or as lines of the logger {@code
 * audit}. {@code audit-changes.log} holds changes and {@code audit-refused.log} holds denied ones, so that a
 * flood of refusals rotates no change out. A record has been written to the kernel when its {@code Mono}
 * completes. A separate thread writes. Safe for use by any thread.
 */
public final class AuditTrail {
    /** The maximum number of records that wait for the disk. Further records fail. */
    private static final int MAX_QUEUED = 4096;

    private static final int IDLE_THREAD_SECONDS = 30;
    /** The maximum length of a text. Longer texts are cut; a person reads no more. */
    private static final int MAX_TEXT = 1024;
    private static final Logger log = LoggerFactory.getLogger(AuditTrail.class);
    private static final Logger records = LoggerFactory.getLogger("audit");
    private static final JsonMapper JSON = new JsonMapper();

    private final Scheduler writer = Schedulers.newBoundedElastic(1, MAX_QUEUED, "culvert-audit",
            IDLE_THREAD_SECONDS, true);
    private final @Nullable Files files;
    private final Clock clock;

    private final @Nullable String process;

    private AuditTrail(@Nullable Files files, Clock clock, @Nullable String process) {
        this.files = files;
        this.clock = clock;
        this.process = process;
    }

    private record Files(RotatedFile changes, RotatedFile refusals) {
        static Files in(Path folder) {
            return new Files(new RotatedFile(folder, "audit-changes.log", RotatedFile.USUAL_BYTES),
                    new RotatedFile(folder, "audit-refused.log", RotatedFile.USUAL_BYTES));
        }
    }

    /** Writes into {@code folder}, which the first record creates. */
    public static AuditTrail in(Path folder, Clock clock) {
        return new AuditTrail(Files.in(folder), clock, null);
    }

    /** As above, with the process in each line: for one of several that serve the same. */
    public static AuditTrail in(Path folder, Clock clock, String process) {
        return new AuditTrail(Files.in(folder), clock, process);
    }

    /** Writes to the logger {@code audit}, for deployments without a persistent folder. */
    public static AuditTrail toLog(Clock clock) {
        return new AuditTrail(null, clock, null);
    }

    /** The outcome of a change: done, refused, or failed. */
    public enum Decision {
        ALLOWED, DENIED, FAILED;

        /** Returns the value of the key {@code decision}. */
        public String word() {
            return switch (this) {
                case ALLOWED -> "allowed";
                case DENIED -> "denied";
                case FAILED -> "failed";
            };
        }
    }

    /**
     * A requested change. Its components are the keys of all audit logs, in this order after {@code time};
     * null and empty ones are left out. No component may hold a secret.
     *
     * @param user the id of the user or other authenticated identity; empty if there is none
     * @param account the user's account
     * @param entity the kind of object in permission rules, or the part that changes
     * @param object the name of the object to change, for people
     * @param address the caller's address
     * @param reason why the change was denied or failed
     */
    public record Entry(String user, @Nullable String account, String action, String entity, String object,
            Decision decision, @Nullable String requestId, @Nullable String address,
            @Nullable String reason) {

        /** Returns the keys and their values. Long values are cut. */
        Map<String, String> facts(Instant time) {
            var facts = new LinkedHashMap<String, String>();
            put(facts, "time", time.toString());
            put(facts, "user", user);
            put(facts, "account", account);
            put(facts, "action", action);
            put(facts, "entity", entity);
            put(facts, "object", object);
            put(facts, "decision", decision.word());
            put(facts, "requestId", requestId);
            put(facts, "address", address);
            put(facts, "reason", reason);
            return facts;
        }

        /** Returns the record as a line of JSON. */
        public String line(Instant time) {
            return line(time, null);
        }

        /** As above, with the process that wrote it as the last key. */
        String line(Instant time, @Nullable String process) {
            ObjectNode line = JSON.createObjectNode();
            facts(time).forEach(line::put);
            if (process != null) {
                line.put("process", process);
            }
            return line.toString();
        }

        /** Writes the record as an event of the logger {@code audit}. */
        public void log(Instant time) {
            LoggingEventBuilder event = records.atInfo();
            for (Map.Entry<String, String> fact : facts(time).entrySet()) {
                event = event.addKeyValue(fact.getKey(), fact.getValue());
            }
            event.log(action);
        }

        private static void put(Map<String, String> facts, String name, @Nullable String text) {
            if (text != null && !text.isEmpty()) {
                facts.put(name, text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) + "…" : text);
            }
        }
    }

    /**
     * Completes when the record is written. A disk error is logged together with the record and does not
     * prevent the change. Never fails.
     */
    public Mono<Void> write(Entry entry) {
        Instant time = clock.instant();
        return Mono.<Void>fromCallable(() -> {
            if (files == null) {
                entry.log(time);
            } else {
                (entry.decision == Decision.DENIED ? files.refusals : files.changes)
                        .append(entry.line(time, process));
            }
            return null;
        })
                .subscribeOn(writer)
                .onErrorResume(failed -> failed instanceof IOException
                        || failed instanceof RejectedExecutionException, failed -> {
                            log.atError()
                                    .addKeyValue("reason", Reason.of(failed))
                                    .addKeyValue("record", entry.line(time))
                                    .log("audit record is not written");
                            return Mono.empty();
                        });
    }

    /** Writes the queued records, then closes the files. */
    public Mono<Void> close() {
        return Mono.<Void>fromRunnable(() -> {
            if (files != null) {
                files.changes.close();
                files.refusals.close();
            }
        }).subscribeOn(writer).onErrorComplete().then(writer.disposeGracefully());
    }
}
