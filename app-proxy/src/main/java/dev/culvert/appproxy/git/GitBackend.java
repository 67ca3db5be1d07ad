package dev.culvert.appproxy.git;

import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.config.ConfigException;
import dev.culvert.config.IpText;
import dev.culvert.handlers.body.BodyIntake;
import dev.culvert.handlers.body.GzipBody;
import dev.culvert.handlers.body.Patience;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.quota.Quota;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Runs {@code git http-backend}, Git's own CGI program, one process for each request, within the places of
 * {@link GitPlaces}. The process of a fetch starts when its request is read completely, the process of a push
 * when its first bytes have arrived. All blocking work (files, pipes, processes) runs on a scheduler of its
 * own. Callable from any thread.
 */
final class GitBackend {
    private static final Logger LOG = LoggerFactory.getLogger(GitBackend.class);

    /** The contract's limit for a response head, counted from the last request byte. */
    private static final Duration HEAD_TIMEOUT = Duration.ofSeconds(60);

    /** The Retry-After when all places are taken. It is short, because a process may end at any moment. */
    private static final Duration RETRY_WHEN_FULL = Duration.ofSeconds(1);

    /** The time for the threads to end: more than killed processes need. The threads are daemons. */
    private static final Duration STOP_TIME = Duration.ofSeconds(5);

    /**
     * Threads for start, standard input, output and error, and end: a run never waits for another run's
     * thread.
     */
    private static final int THREADS_PER_RUN = 5;

    /**
     * The maximum size of a fetch request, its wants and haves, once it is expanded; for a repository with
     * 100,000 branches it has 5 MB.
     */
    private static final int MAX_REQUEST_BYTES = 8 << 20;

    /** The memory of requests that wait for a place: their heads, and the bodies of fetches. */
    private static final long MEMORY_BYTES = 64L << 20;

    /** The pushes that rules are asked about at a time: each asks one question after the other. */
    static final int MAX_JUDGED = 64;

    /** The size up to which git reads a file whole. It streams larger ones, without deltas (ADR 11). */
    private static final String WHOLE_FILES = "8m";
    private static final String CACHED_DELTA_BASES = "32m";
    private static final String DELTA_WINDOW = "32m";
    private static final String KEPT_DELTAS = "16m";
    private static final Pattern PROTOCOL = Pattern.compile("[A-Za-z0-9=:._-]{1,128}");
    private static final Pattern NAME = Pattern.compile("[^\\p{Cntrl}<>\\n]{1,256}");
    private static final Pattern PLAIN = Pattern.compile("[\\x20-\\x7e]{1,256}");

    private final AppProxyConfig.Git settings;
    /** Null: it is not installed, so Git's processes have no limit of memory. */
    private final @Nullable Path prlimit = onPath("prlimit");
    private final GitPlaces places;
    private final Quota<Object> memory = new Quota<>(MEMORY_BYTES);
    private final Quota<Object> judging = new Quota<>(MAX_JUDGED);
    private final BodyIntake intake;
    private final Scheduler clock;
    private final Scheduler io;

    GitBackend(AppProxyConfig.Git settings, Scheduler clock) {
        this.settings = settings;
        this.clock = clock;
        this.places = new GitPlaces(settings.maxProcesses());
        this.intake = new BodyIntake(memory, clock);
        this.io = Schedulers.newBoundedElastic(settings.maxProcesses() * THREADS_PER_RUN,
                settings.maxProcesses() * THREADS_PER_RUN, "git-backend", 30, true);
    }

    /** Checks that the folder and Git's CGI program exist. Errors: {@link ConfigException}. */
    Mono<Void> check() {
        return Mono.<Void>fromRunnable(() -> {
            if (!Files.isDirectory(settings.repositories())) {
                throw new ConfigException("handlers.git.repositories",
                        "an existing folder of bare repositories");
            }
            if (!hasHttpBackend()) {
                throw new ConfigException("handlers.git",
                        "git with its http-backend on the PATH; install git");
            }
            if (prlimit == null) {
                LOG.warn(
                        "Git's processes have no limit of memory: prlimit is not on the PATH; install util-linux");
            }
        }).subscribeOn(io);
    }

    private static @Nullable Path onPath(String program) {
        return Arrays.stream(path().split(File.pathSeparator))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, program))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }

    private static String path() {
        String path = System.getenv("PATH");
        return path == null ? "/usr/local/bin:/usr/bin:/bin" : path;
    }

    private static boolean hasHttpBackend() {
        try {
            Process git = new ProcessBuilder("git", "--exec-path").redirectErrorStream(true).start();
            String folder = new String(git.getInputStream().readNBytes(4096), StandardCharsets.UTF_8).strip();
            return git.waitFor() == 0 && Files.isExecutable(Path.of(folder, "git-http-backend"));
        } catch (IOException | InvalidPathException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * Serves one call. Cancelling, of the response or its body, kills the process. Errors: {@link
     * HandlerException} with {@code NOT_FOUND}, {@code OVERLOADED}, {@code BODY_TOO_LARGE}, {@code
     * REQUEST_TIMEOUT}, {@code UPSTREAM_TIMEOUT} or {@code UPSTREAM_BAD_RESPONSE}, and the errors of the
     * request's body.
     *
     * @param account the account whose share of processes and memory the call uses; compared by equals
     * @param rules decides on a push
     */
    Mono<EdgeResponse> serve(GitCall call, EdgeRequest request, Object account, PushRights.Rules rules) {
        if (call.advertisement()) {
            return run(call, request, Flux.empty(), account, PushRights.NONE);
        }
        return call.service() == GitCall.Service.UPLOAD_PACK
                ? fetch(call, request, account)
                : push(call, request, account, rules);
    }

    private Mono<EdgeResponse> fetch(GitCall call, EdgeRequest request, Object account) {
        return (isGzip(request)
                ? intake.readGzip(request.body(), account, MAX_REQUEST_BYTES)
                : intake.read(request.body(), account, MAX_REQUEST_BYTES))
                .flatMap(body -> run(call, request, body.parts(), account, PushRights.NONE)
                        .doOnError(error -> body.close())
                        .doOnCancel(body::close));
    }

    /** Git's CGI program expands it otherwise, however large it becomes, and after its commands were read. */
    private static boolean isGzip(EdgeRequest request) {
        String encoding = request.headers().get(HttpHeaderNames.CONTENT_ENCODING, "");
        return encoding.equals("gzip") || encoding.equals("x-gzip");
    }

    private Mono<EdgeResponse> push(GitCall call, EdgeRequest request, Object account,
            PushRights.Rules rules) {
        return Mono.defer(() -> {
            Sinks.Empty<Void> shed = Sinks.empty();
            var waiting = memory.tryOpen(account, BodyIntake.REQUEST_BYTES, () -> shed.tryEmitError(busy()));
            if (waiting == null) {
                return Mono.error(busy());
            }
            var arriving = new ArrivingPush(waiting::tryTake);
            return arriving.parts(isGzip(request) ? GzipBody.expand(request.body()) : request.body())
                    .timeout(Mono.delay(Patience.GRACE, clock), part -> Mono.never())
                    .onErrorMap(TimeoutException.class,
                            error -> HandlerException.of(Reason.REQUEST_TIMEOUT, "no push arrived"))
                    .switchOnFirst((first, parts) -> {
                        Throwable broken = first.getThrowable();
                        return broken != null
                                ? Mono.<EdgeResponse>error(broken)
                                : arriving.updates(first.get())
                                        .flatMap(updates -> judged(updates, rules, account, shed))
                                        .flatMap(rights -> {
                                            waiting.close();
                                            return run(call, request, ArrivingPush.body(parts), account,
                                                    rights);
                                        });
                    }, false)
                    .singleOrEmpty()
                    .takeUntilOther(shed.asMono())
                    .doFinally(signal -> waiting.close());
        });
    }

    /** Asks the rules about a push, which may take a question for each of its refs. */
    private Mono<PushRights> judged(List<RefUpdate> updates, PushRights.Rules rules, Object account,
            Sinks.Empty<Void> shed) {
        return Mono.defer(() -> {
            var place = judging.tryOpen(account, 1, () -> shed.tryEmitError(busy()));
            return place == null
                    ? Mono.error(busy())
                    : rules.of(updates)
                            .map(rights -> rights.over(updates))
                            .doOnTerminate(place::close)
                            .doOnCancel(place::close);
        });
    }

    private Mono<EdgeResponse> run(GitCall call, EdgeRequest request, Flux<ByteBuf> body, Object account,
            PushRights rights) {
        return Mono.defer(() -> {
            var run = new GitRun(io, clock, request.context().requestId(), settings.maxDuration(),
                    places::ended);
            if (!places.enter(run, account)) {
                return Mono.error(busy());
            }
            return Mono.<EdgeResponse>create(sink -> {
                sink.onCancel(run::kill);
                places.begin(
                        () -> io.schedule(() -> run.begin(() -> process(call, request, rights), body, sink)));
            })
                    .timeout(run.bodySent().then(Mono.delay(HEAD_TIMEOUT)))
                    .onErrorMap(TimeoutException.class,
                            error -> HandlerException.of(Reason.UPSTREAM_TIMEOUT,
                                    "Git did not answer in time"));
        });
    }

    /**
     * Kills the running processes and frees the threads. Runs on another thread than the caller's, because
     * ending a pool takes locks.
     */
    Mono<Void> stop() {
        return Mono.<Void>fromRunnable(places::killAll)
                .then(io.disposeGracefully())
                .timeout(STOP_TIME, Mono.fromRunnable(io::dispose))
                .subscribeOn(Schedulers.boundedElastic());
    }

    /** The number of processes that may still be started. */
    int available() {
        return places.available();
    }

    static HandlerException busy() {
        return HandlerException.of(Reason.OVERLOADED, "the Git processes are busy")
                .retryAfter(RETRY_WHEN_FULL);
    }

    private ProcessBuilder process(GitCall call, EdgeRequest request, PushRights rights) throws IOException {
        Path root = settings.repositories().toRealPath();
        requireRepository(root, call.repository());
        ProcessBuilder builder = new ProcessBuilder(command()).directory(root.toFile());
        Map<String, String> environment = builder.environment();
        environment.clear();
        environment.putAll(environment(root, call, request));
        if (call.service() == GitCall.Service.RECEIVE_PACK) {
            restrict(environment, rights);
        }
        return builder;
    }

    /** Each of its processes inherits the limit of memory (setrlimit(2), RLIMIT_DATA). */
    private List<String> command() {
        List<String> backend = List.of("git", "http-backend");
        return prlimit == null
                ? backend
                : Stream.concat(Stream.of(prlimit.toString(),
                        "--data=" + settings.maxProcessMemory().bytes(), "--"), backend.stream()).toList();
    }

    private static void requireRepository(Path root, String name) throws IOException {
        Path folder = root.resolve(name + ".git");
        if (!Files.isDirectory(folder) || !folder.toRealPath().startsWith(root)
                || !Files.isRegularFile(folder.resolve("HEAD"))
                || !Files.isDirectory(folder.resolve("objects"))
                || !Files.isDirectory(folder.resolve("refs"))) {
            throw GitCall.notFound();
        }
    }

    /**
     * The environment: only the variables that CGI and Git need, none of this process's own, and no
     * configuration except the repository's.
     */
    private Map<String, String> environment(Path root, GitCall call, EdgeRequest request) {
        Map<String, String> environment = new HashMap<>();
        environment.put("PATH", path());
        environment.put("LC_ALL", "C");
        environment.put("HOME", "");
        environment.put("GIT_CONFIG_NOSYSTEM", "1");
        environment.put("GIT_CONFIG_GLOBAL", "/dev/null");
        environment.put("GIT_TERMINAL_PROMPT", "0");
        environment.put("GIT_PROJECT_ROOT", root.toString());
        environment.put("GIT_HTTP_EXPORT_ALL", "1");
        configure(environment, "http.getanyfile", "false");
        configure(environment, "http.receivepack", Boolean.toString(settings.allowPush()));
        configure(environment, "core.bigFileThreshold", WHOLE_FILES);
        configure(environment, "core.deltaBaseCacheLimit", CACHED_DELTA_BASES);
        configure(environment, "receive.maxInputSize", Long.toString(settings.maxPush().bytes()));
        configure(environment, "pack.threads", "1");
        configure(environment, "pack.deltaCacheSize", KEPT_DELTAS);
        configure(environment, "pack.windowMemory", DELTA_WINDOW);
        environment.put("GATEWAY_INTERFACE", "CGI/1.1");
        environment.put("SERVER_PROTOCOL", "HTTP/1.1");
        environment.put("REQUEST_METHOD", request.method().name());
        environment.put("PATH_INFO", call.pathInfo());
        environment.put("QUERY_STRING", call.advertisement() ? "service=" + call.service().word() : "");
        InetAddress remote = request.context().source();
        environment.put("REMOTE_ADDR", remote == null ? "unknown" : IpText.of(remote));
        pass(environment, "CONTENT_TYPE", request.headers().get(HttpHeaderNames.CONTENT_TYPE), PLAIN);
        pass(environment, "GIT_PROTOCOL", request.headers().get("git-protocol"), PROTOCOL);
        return environment;
    }

    /**
     * Keeps a push to branches and tags, and to its rights. It adds to what the repository's own
     * configuration denies and hides, and undoes none of it. Tells hooks and the reflog who pushes:
     * githooks(5) run with this environment.
     */
    private static void restrict(Map<String, String> environment, PushRights rights) {
        if (rights.foreign()) {
            configure(environment, "receive.hideRefs", "refs/"); // Git tells its user so, ref by ref
        }
        if (!rights.deletes()) {
            configure(environment, "receive.denyDeletes", "true");
        }
        if (!rights.rewrites()) {
            configure(environment, "receive.denyNonFastForwards", "true");
        }
        AuthenticatedCaller caller = rights.caller();
        if (caller != null) {
            pass(environment, "REMOTE_USER", caller.id(), PLAIN);
            pass(environment, "CULVERT_ACCOUNT", caller.account(), PLAIN);
            pass(environment, "GIT_COMMITTER_NAME", caller.displayName(), NAME);
            pass(environment, "GIT_COMMITTER_EMAIL", caller.email(), NAME);
        }
    }

    /** Adds a setting that overrides the repository's. */
    private static void configure(Map<String, String> environment, String key, String value) {
        int before = Integer.parseInt(environment.getOrDefault("GIT_CONFIG_COUNT", "0"));
        environment.put("GIT_CONFIG_KEY_" + before, key);
        environment.put("GIT_CONFIG_VALUE_" + before, value);
        environment.put("GIT_CONFIG_COUNT", Integer.toString(before + 1));
    }

    private static void pass(Map<String, String> environment, String name, @Nullable String value,
            Pattern allowed) {
        if (value != null && allowed.matcher(value).matches()) {
            environment.put(name, value);
        }
    }
}
