package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.commits.git.Branch;
import dev.culvert.appproxy.commits.git.FolderRemote;
import dev.culvert.appproxy.commits.git.GitFailure;
import dev.culvert.appproxy.commits.git.HttpRemote;
import dev.culvert.appproxy.commits.git.JGitSetup;
import dev.culvert.appproxy.commits.git.KeyedSerializer;
import dev.culvert.appproxy.commits.git.Mirrors;
import dev.culvert.appproxy.commits.git.Remote;
import dev.culvert.appproxy.commits.git.SmartHttp;
import dev.culvert.appproxy.credentials.GitToken;
import dev.culvert.appproxy.credentials.GitTokens;
import dev.culvert.appproxy.repositories.Integration;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.eclipse.jgit.errors.TransportException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Commits to and reads from repositories of all providers, with the caller's own token. JGit blocks, so it
 * runs on threads of its own, at most {@code maxCommits}. Work on one repository runs one at a time, in order
 * of arrival. Callable from any thread; never blocks. Work that has begun runs to its end, also when the
 * caller disconnects.
 */
final class Commits {
    private static final Duration STOP_TIME = Duration.ofSeconds(5);

    /** The first pause before another attempt. It doubles up to the longest; each pause is jittered. */
    private static final long FIRST_PAUSE_MILLIS = 20;
    private static final long LONGEST_PAUSE_MILLIS = 1000;

    private final CommitsSettings settings;
    private final GitTokens tokens;
    private final Scheduler io;
    private final KeyedSerializer serializer;
    private final Mirrors mirrors;

    Commits(CommitsSettings settings, GitTokens tokens) {
        this.settings = settings;
        this.tokens = tokens;
        this.io = Schedulers.newBoundedElastic(settings.maxCommits(),
                settings.maxCommits() * settings.maxWaiting(),
                "commits", 30, true);
        this.serializer = new KeyedSerializer(settings.maxWaiting());
        this.mirrors = new Mirrors(settings.cacheFolder(), settings.cacheRepositories(),
                settings.cacheBytes().bytes());
    }

    /** Locks the cache's folder. Errors: ConfigException. */
    Mono<Void> start() {
        return blocking(() -> {
            JGitSetup.once();
            mirrors.open();
            return 0;
        }).then();
    }

    /** Waits for running work within {@code grace}, then releases the threads and the folder. */
    Mono<Void> stop(Duration grace) {
        return io.disposeGracefully()
                .timeout(grace.compareTo(STOP_TIME) < 0 ? STOP_TIME : grace, Mono.fromRunnable(io::dispose))
                .then(Mono.<Void>fromCallable(() -> {
                    mirrors.close();
                    return null;
                }))
                .subscribeOn(Schedulers.boundedElastic());
    }

    /**
     * Lands a commit. Errors: HandlerException, as {@link CommitJob#attempt}; CONFLICT after the last
     * attempt.
     */
    Mono<CommitResult> commit(Target target, AuthenticatedCaller caller, CommitDraft draft) {
        return with(target, caller, remote -> attempt(new CommitJob(remote, draft), target, 1));
    }

    /** Reads a file into memory. Errors: HandlerException, as {@link BranchReading#file}. */
    Mono<FileRead> read(Target target, AuthenticatedCaller caller, Branch branch, FilePath path,
            LongConsumer admission) {
        return with(target, caller,
                remote -> blocking(() -> new BranchReading(remote, branch).file(path, admission)));
    }

    /** Copies a file for its reader. Errors: HandlerException, as {@link BranchReading#raw}. */
    Mono<RawFile> raw(Target target, AuthenticatedCaller caller, Branch branch, FilePath path,
            RawReads.Read reader) {
        return with(target, caller,
                remote -> blocking(() -> new BranchReading(remote, branch).raw(path, reader)));
    }

    /** The files that exist. */
    Mono<Set<FilePath>> existing(Target target, AuthenticatedCaller caller, Branch branch,
            List<FilePath> paths) {
        return with(target, caller,
                remote -> blocking(() -> new BranchReading(remote, branch).existing(paths)));
    }

    private Mono<CommitResult> attempt(CommitJob job, Target target, int number) {
        return blocking(job::attempt).flatMap(landed -> {
            if (landed.isPresent()) {
                return Mono.just(landed.get());
            }
            if (number >= settings.maxAttempts()) {
                return Mono.error(HandlerException.of(Reason.CONFLICT,
                        "other commits moved the branch at each of " + number + " attempts: try again"));
            }
            long most = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(number, 10));
            Duration pause = Duration.ofMillis(ThreadLocalRandom.current().nextLong(most) + 1);
            return Mono.delay(pause).then(Mono.defer(() -> attempt(job, target, number + 1)));
        });
    }

    private <T> Mono<T> with(Target target, AuthenticatedCaller caller, Function<Remote, Mono<T>> work) {
        return token(target.integration(), caller)
                .flatMap(token -> serializer.run(target.key(), remote(target, token.orElse(null), work)))
                .onErrorMap(error -> GitFailure.of(error, target.repository()));
    }

    private Mono<Optional<GitToken>> token(Integration integration, AuthenticatedCaller caller) {
        return integration.needsToken()
                ? tokens.of(caller, integration.name()).map(Optional::of)
                : Mono.just(Optional.empty());
    }

    private <T> Mono<T> remote(Target target, @Nullable GitToken token, Function<Remote, Mono<T>> work) {
        Integration integration = target.integration();
        Path folder = integration.folder();
        if (folder != null) {
            return work.apply(new FolderRemote(folder, Path.of(integration.cloneUrl(target.repository()))));
        }
        var http = new SmartHttp(integration.cloneUrl(target.repository()), token, integration.ca(),
                settings.timeout());
        String key = target.key();
        return Mono.usingWhen(blocking(() -> mirrors.borrow(key)),
                mirror -> work.apply(new HttpRemote(http, mirror, settings.cacheBytes().bytes())),
                mirror -> done(() -> mirrors.giveBack(key, mirror)),
                (mirror, error) -> done(
                        error instanceof HandlerException || error instanceof TransportException
                                ? () -> mirrors.giveBack(key, mirror)
                                : () -> mirrors.discard(key, mirror)),
                mirror -> done(() -> mirrors.discard(key, mirror)));
    }

    private Mono<Void> done(Runnable end) {
        return Mono.<Void>fromRunnable(end).subscribeOn(io);
    }

    private <T> Mono<T> blocking(Callable<T> call) {
        return Mono.fromCallable(call).subscribeOn(io);
    }
}
