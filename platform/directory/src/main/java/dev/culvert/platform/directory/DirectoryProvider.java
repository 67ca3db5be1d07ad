package dev.culvert.platform.directory;

import dev.culvert.certs.AtomicFile;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.ConfigException;
import dev.culvert.handlers.graphql.GraphQlField;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.handlers.spi.HandlerLimits;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.OutboundCalls;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.platform.directory.rules.AccessDecisions;
import dev.culvert.platform.directory.store.Directory;
import dev.culvert.platform.directory.store.DirectoryLimits;
import dev.culvert.platform.directory.store.DirectorySchema;
import dev.culvert.platform.directory.store.KeyText;
import dev.culvert.platform.directory.store.SigningKeys;
import dev.culvert.platform.directory.store.WrappedTexts;
import dev.culvert.platform.directory.wrapping.WrappingException;
import dev.culvert.platform.directory.wrapping.WrappingKeyFile;
import dev.culvert.platform.host.ControlPlaneConfig;
import dev.culvert.platform.host.StoreSettings;
import dev.culvert.platform.host.rest.RestApi;
import dev.culvert.platform.host.rest.RestCall;
import dev.culvert.platform.host.spi.AccountEnds;
import dev.culvert.platform.host.spi.AccountSettings;
import dev.culvert.platform.host.spi.Callers;
import dev.culvert.platform.host.spi.Decisions;
import dev.culvert.platform.host.spi.Events;
import dev.culvert.platform.host.spi.OperatorRecovery;
import dev.culvert.platform.host.spi.PlatformModule;
import dev.culvert.platform.host.spi.RuntimeCalls;
import dev.culvert.platform.host.spi.RuntimeEnds;
import dev.culvert.platform.host.spi.RuntimeKeys;
import dev.culvert.platform.host.spi.SecretWrapping;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.host.spi.TableVersions;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The module that knows people: accounts, users, keys, teams and rules. It offers the platform's {@link
 * Callers}, {@link Decisions}, {@link RuntimeCalls}, {@link RuntimeKeys} and {@link SecretWrapping}.
 */
public final class DirectoryProvider implements PlatformModule {
    static final String NAME = "directory";

    private static final int MAX_CONNECTIONS = 64;
    private static final int MAX_WAITING = 10_000;
    /** Every App-Proxy asks here, so calls are bounded by memory and look-ups rather than by number. */
    private static final HandlerLimits LIMITS = new HandlerLimits(8192, Duration.ofMinutes(1), 8);
    private static final Logger log = LoggerFactory.getLogger(DirectoryProvider.class);

    private @Nullable Parts parts;

    /** What the services and the handler share. Made by the first that is created. */
    private record Parts(Directory directory, SigningKeys signing, AccessDecisions decisions,
            ControlPlaneConfig config, Events events,
            OutboundCalls calls, PublicHosts runtimes, ChangeNotifier notifier) {
        static Parts of(HandlerContext context) {
            ControlPlaneConfig config = context.service(ControlPlaneConfig.class);
            Events events = context.service(Events.class);
            Store store = context.service(Store.class);
            var signing = new SigningKeys(store, new WrappingKeyFile(config.tokenKeyFile()),
                    Clock.systemUTC());
            var directory = new Directory(store, events, context.service(AccountEnds.class),
                    DirectoryLimits.defaults(), Clock.systemUTC(), signing);
            var calls = new OutboundCalls("runtimes", MAX_CONNECTIONS, MAX_WAITING,
                    context.service(EventLoops.class), TlsContexts.client(config.nudge().ca()));
            var runtimes = new PublicHosts(directory, calls);
            return new Parts(directory, signing, new AccessDecisions(directory, NAME), config, events, calls,
                    runtimes,
                    new ChangeNotifier(directory, runtimes));
        }
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<String> mounts() {
        return List.of("/api/accounts/", "/api/users/", "/api/teams/", "/api/keys/", "/api/abac/", "/api/me",
                "/api/runtimes", "/api/runtime", "/api/runtime-tokens", TokenKeyCalls.PATH, "/api/tokens/",
                "/api/auth/", "/api/team/", "/api/user",
                "/api/changes");
    }

    @Override
    public HandlerLimits limits() {
        return LIMITS;
    }

    @Override
    public TableVersions tables() {
        return DirectorySchema.VERSIONS;
    }

    @Override
    public Map<Class<?>, Function<HandlerContext, ?>> services() {
        return Map.of(Callers.class, context -> keyCheck(parts(context)),
                Decisions.class, context -> new RuleDecisions(parts(context).decisions()),
                RuntimeKeys.class, context -> parts(context).directory().runtimeKeys(),
                RuntimeCalls.class, context -> parts(context).runtimes(),
                SecretWrapping.class, DirectoryProvider::wrapping,
                OperatorRecovery.class, context -> recovery(parts(context).directory()));
    }

    private static KeyCheck keyCheck(Parts parts) {
        return new KeyCheck(parts.directory(), parts.config().store().maxWaiting());
    }

    private static SecretWrapping wrapping(HandlerContext context) {
        return new WrappedTexts(context.service(Store.class),
                new WrappingKeyFile(context.service(ControlPlaneConfig.class).tokenKeyFile()));
    }

    private static OperatorRecovery recovery(Directory directory) {
        return keep -> directory.recover(key -> keep.keep(key.reveal()))
                .map(done -> new OperatorRecovery.Recovered(done.operator().account(), done.operator().id(),
                        done.operator().email(), done.key(), done.isNew(), done.others()));
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        Directory directory = parts(context).directory();
        context.service(RuntimeEnds.class).add(directory::runtimeEnded);
        List<RestCall> calls = new ArrayList<>(PeopleCalls.of(directory, parts(context).notifier()));
        calls.addAll(PublicNameCalls.of(directory));
        calls.addAll(RuntimeTokenCalls.of(directory, parts(context).decisions(),
                new AllowedOrigins(parts(context).config().nudge().allow()),
                context.service(AuditTrail.class)));
        calls.addAll(TokenKeyCalls.of(parts(context).signing()));
        return new Served(RestApi.of(NAME, context, calls),
                new MeFunction(directory, context.service(AccountSettings.class),
                        context.service(Callers.class)));
    }

    /** The REST calls, and the fields of GraphQL. */
    private record Served(RestApi api, MeFunction me) implements EdgeHandler, GraphQlFunction {
        @Override
        public Mono<EdgeResponse> handle(EdgeRequest request) {
            return api.handle(request);
        }

        @Override
        public String schema() {
            return me.schema();
        }

        @Override
        public Map<String, GraphQlField> fields() {
            return me.fields();
        }
    }

    @Override
    public Mono<Void> start() {
        Parts here = Objects.requireNonNull(parts, "created");
        Path file = here.config().adminKey();
        boolean isAlone = here.config().store().kind() == StoreSettings.Kind.SQLITE;
        return here.signing()
                .open(isAlone)
                .onErrorMap(WrappingException.class, failed -> unfit(failed, isAlone))
                .then(here.directory().bootstrap(here.config().firstAccount(), key -> keep(key, file)))
                .then(Mono.defer(() -> warnOfEnd(here.directory())))
                .then(Mono.<Void>fromRunnable(() -> warnOfKeyFile(file))
                        .subscribeOn(Schedulers.boundedElastic()))
                .then(Mono.fromRunnable(() -> {
                    here.decisions().follow(here.events());
                    here.notifier().follow(here.events());
                }));
    }

    @Override
    public Mono<Void> stop(Duration grace) {
        Parts here = parts;
        return here == null
                ? Mono.empty()
                : Mono.<Void>fromRunnable(() -> {
                    here.decisions().stop();
                    here.notifier().stop();
                }).then(here.calls().close());
    }

    private Parts parts(HandlerContext context) {
        Parts here = parts;
        if (here == null) {
            here = Parts.of(context);
            parts = here;
        }
        return here;
    }

    /**
     * Warns about the file of the first key, which gives access to every account and should not stay there.
     */
    private static void warnOfKeyFile(Path file) {
        if (Files.exists(file)) {
            log.atWarn()
                    .addKeyValue("file", file)
                    .log("the first administrator's key is in a file: keep it elsewhere and delete the file");
        }
    }

    private static ConfigException unfit(WrappingException failed, boolean isAlone) {
        boolean isLost = failed.kind() != WrappingException.Kind.UNUSABLE;
        return new ConfigException("tokenKeys.file",
                "the keys that wrap those of runtime tokens; " + failed.getMessage() + (isLost && !isAlone
                        ? " (the machines that use this database have the same file; where all have lost it,"
                                + " DELETE FROM token_keys ends all runtime tokens, and the next start makes new"
                                + " keys)"
                        : ""));
    }

    /** Warns when every operator's key expires: after the last nobody can make another by a call. */
    static Mono<Void> warnOfEnd(Directory directory) {
        return directory.operatorsAccessEnds()
                .doOnNext(end -> log.atWarn()
                        .addKeyValue("until", Instant.ofEpochSecond(end))
                        .log("every API key of an operator expires: make one that does not, or one that lasts longer"))
                .then();
    }

    private static void keep(KeyText first, Path file) {
        try {
            Path folder = file.toAbsolutePath().getParent();
            if (folder != null) {
                Files.createDirectories(folder);
            }
            AtomicFile.write(file, (first.reveal() + "\n").getBytes(StandardCharsets.US_ASCII), "rw-------");
            log.atInfo().addKeyValue("file", file).log("key of the first administrator written");
        } catch (IOException e) {
            throw new ConfigException("adminKeyFile", "a file that can be written");
        }
    }
}
