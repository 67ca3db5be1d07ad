package dev.culvert.appproxy;

import dev.culvert.appproxy.access.ControlPlaneSettings;
import dev.culvert.appproxy.argo.application.ApplicationsSettings;
import dev.culvert.appproxy.argo.rollout.RolloutsSettings;
import dev.culvert.appproxy.argo.workflow.WorkflowsSettings;
import dev.culvert.appproxy.commits.CommitsSettings;
import dev.culvert.appproxy.repositories.RepositoriesConfig;
import dev.culvert.config.ByteSize;
import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.config.Setting;
import dev.culvert.handlers.graphql.GraphQlLimits;
import dev.culvert.handlers.host.LimitSettings;
import dev.culvert.http.net.Cidr;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The App-Proxy's configuration: {@code app-proxy.yaml}, its variables and flags.
 *
 * @param listen the address of the listener
 * @param runtime the runtime that it serves, shown to clients; null: not configured
 * @param controlPlane the control plane with users and rules; null: all operations that need permission are
 *        refused
 * @param audit folder of the audit log; null: its records are written to the log
 * @param handlers the handlers and their settings
 * @param limits the limits of single handlers, by name, where they differ from the handler's own
 * @param graphql the memory of GraphQL
 * @param plugins third-party handlers from the class path: the settings, by handler name
 * @param remote handlers in processes of their own
 * @param cors the origins whose pages may call; null: none
 * @param trustedProxies networks whose {@code X-Forwarded-For} is trusted to name the source address of a
 *        request
 */
public record AppProxyConfig(
        @Setting(value = "Address of the HTTP listener; port 0 picks a free one", byDefault = "0.0.0.0:3017") HostPort listen,
        @Setting(value = "Name of the runtime it serves, shown by the info handler", accepts = "account/name") @Nullable String runtime,
        @Nullable ControlPlaneSettings controlPlane,
        @Setting("Folder of the audit log, audit-changes.log and audit-refused.log, made when absent; left out: its records are lines of the log") @Nullable Path audit,
        Handlers handlers,
        @Setting("What a handler may use, by its name, as git or graphql; left out: what the handler asks for") Map<String, LimitSettings> limits,
        GraphQl graphql,
        @Setting("Handlers that are no part of Culvert, found on the class path: settings by the handler's name; {} for one without") Map<String, Map<String, String>> plugins,
        @Setting(value = "Handlers in processes of their own", fileOnly = true) List<Remote> remote,
        @Nullable Cors cors,
        @Setting(value = "Networks of the tunnel client, routers and ingress controllers: the last address of X-Forwarded-For that is in none of them has its share of Git processes and of memory for requests", byDefault = PRIVATE_NETWORKS, accepts = "addresses or CIDR blocks, as 10.0.0.0/8,::1") List<String> trustedProxies) {
    static final String PRIVATE_NETWORKS = "127.0.0.0/8,::1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,fc00::/7";

    public AppProxyConfig {
        trustedProxies = List.copyOf(trustedProxies);
        try {
            trustedProxies.forEach(Cidr::parse);
        } catch (IllegalArgumentException e) {
            throw new ConfigException("trustedProxies", "addresses or CIDR blocks, as 10.0.0.0/8,::1");
        }
    }

    /** Makes a configuration with a listener and handlers, and defaults for all other settings. */
    public static AppProxyConfig of(HostPort listen, @Nullable String runtime, Handlers handlers) {
        return new AppProxyConfig(listen, runtime, null, null, handlers, Map.of(), GraphQl.usual(), Map.of(),
                List.of(), null,
                List.of(PRIVATE_NETWORKS.split(",")));
    }

    /** Returns a copy with a control plane, and a folder for the audit log. */
    public AppProxyConfig with(ControlPlaneSettings plane, @Nullable Path auditFolder) {
        return new AppProxyConfig(listen, runtime, plane, auditFolder, handlers, limits, graphql, plugins,
                remote,
                cors, trustedProxies);
    }

    /** Returns a copy with one more remote handler. */
    AppProxyConfig with(Remote another) {
        return new AppProxyConfig(listen, runtime, controlPlane, audit, handlers, limits, graphql, plugins,
                Stream.concat(remote.stream(), Stream.of(another)).toList(), cors, trustedProxies);
    }

    /**
     * The served handlers. If none is given, {@code info} is served. The name of a component is the handler's
     * name, its type is the type of the handler's settings. A new handler adds one component, and nothing
     * else here.
     *
     * @param info {@code GET /app-proxy/api/info}
     * @param git {@code /app-proxy/git/{repository}.git}
     * @param workflows state changes, logs and events of Argo Workflows
     * @param rollouts state changes of Argo Rollouts
     * @param applications state changes and logs of Argo CD's applications
     * @param commits commits to Git repositories, through GraphQL
     * @param repositories Git providers and Git tokens, for GraphQL and other handlers
     */
    public record Handlers(@Setting("The info handler; it has nothing to set") @Nullable Info info,
            @Nullable Git git, @Nullable WorkflowsSettings workflows, @Nullable RolloutsSettings rollouts,
            @Nullable ApplicationsSettings applications, @Nullable CommitsSettings commits,
            @Nullable RepositoriesConfig repositories) {
        /** The handlers with these settings. The type of the settings determines the handler. */
        public static Handlers of(Record... settings) {
            return HandlerSettings.placed(List.of(settings));
        }

        /** The settings of the served handlers, by handler name. */
        SortedMap<String, Record> served() {
            return HandlerSettings.served(this);
        }
    }

    /**
     * A handler in a process of its own, at an {@code http://} address, in any language.
     *
     * @param name its name in metrics and health
     * @param mount the path prefix that it serves, from slash to slash
     * @param to the URL of its listener
     * @param timeout the limit from a call to the head of its response; zero: none
     * @param maxConcurrent the maximum number of concurrent calls
     * @param credentials whether it receives the caller's Authorization and x-access-token
     */
    public record Remote(
            @Setting("Its name in metrics and health") String name,
            @Setting(value = "Path prefix that it answers", accepts = "a path from slash to slash, as /app-proxy/reports/") String mount,
            @Setting(value = "Where it listens", accepts = "http://host:port") URI to,
            @Setting(value = "Time to its response's head, 504 after it; 0s is without end", byDefault = "1m") Duration timeout,
            @Setting(value = "Calls of it at the same time; beyond it they are answered 503", byDefault = "64", accepts = "1..100000") int maxConcurrent,
            @Setting(value = "Whether it gets the caller's Authorization and x-access-token", byDefault = "false") boolean credentials) {
        public Remote {
            if (maxConcurrent < 1 || maxConcurrent > 100_000) {
                throw new ConfigException("maxConcurrent", "1..100000; remove the key for the default 64");
            }
        }
    }

    /**
     * The pages that may call.
     *
     * @param allowOrigins their origins, compared without case
     */
    public record Cors(
            @Setting(value = "Origins of pages that may call, with credentials, and read the answers", accepts = "scheme://host[:port] each, as https://app.example.com") List<String> allowOrigins) {
        public Cors {
            if (!allowOrigins.stream().allMatch(origin -> origin.matches("[a-z]+://[^/*]+"))) {
                throw new ConfigException("allowOrigins",
                        "scheme://host[:port] each, as https://app.example.com");
            }
        }
    }

    /**
     * The memory of GraphQL.
     *
     * @param maxBytes the memory of all requests and their answers
     * @param maxAnswerBytes the memory of one answer, at most half of {@code maxBytes}
     */
    public record GraphQl(
            @Setting(value = "Memory of all GraphQL requests and their answers; one user may use half, and the heaviest gives way", byDefault = "64MiB", accepts = "16MiB..16GiB") ByteSize maxBytes,
            @Setting(value = "Memory that one GraphQL answer may take while it is made, 413 beyond it", byDefault = "16MiB", accepts = "64KiB..1GiB, at most half of maxBytes") ByteSize maxAnswerBytes) {
        public GraphQl {
            if (maxBytes.bytes() < 16 << 20 || maxBytes.bytes() > 16L << 30) {
                throw new ConfigException("maxBytes", "16MiB..16GiB; remove the key for the default 64MiB");
            }
            if (maxAnswerBytes.bytes() < 64 << 10 || maxAnswerBytes.bytes() > 1 << 30
                    || maxAnswerBytes.bytes() > maxBytes.bytes() / 2) {
                throw new ConfigException("maxAnswerBytes",
                        "64KiB..1GiB, at most half of maxBytes; remove the key for the default 16MiB");
            }
        }

        static GraphQl usual() {
            GraphQlLimits usual = GraphQlLimits.defaults();
            return new GraphQl(new ByteSize(usual.maxBufferedBytes()), new ByteSize(usual.maxAnswerBytes()));
        }

        GraphQlLimits limits() {
            return GraphQlLimits.defaults()
                    .withMemory(maxBytes.bytes(), Math.toIntExact(maxAnswerBytes.bytes()));
        }
    }

    /** The info handler. It has no settings. */
    public record Info() {}

    /**
     * The Git handler.
     *
     * @param repositories folder of bare repositories named {@code <repository>.git}
     * @param allowPush whether pushes are accepted
     * @param anonymousReads whether fetches need no permission although a control plane is configured
     * @param maxProcesses the maximum number of concurrent requests, 1..1024
     * @param maxDuration the limit for one whole request
     * @param maxProcessMemory the maximum size of the private memory of each process, 64 MiB or more
     * @param maxPush the maximum size of the pack of a push, 1 MiB or more
     * @param allowRewrites whether pushes may lose something, without a control plane
     */
    public record Git(
            @Setting("Folder of bare repositories, each named <repository>.git") Path repositories,
            @Setting(value = "Whether pushes are taken; off, because without controlPlane this listener authenticates nobody", byDefault = "false") boolean allowPush,
            @Setting(value = "Whether everybody may fetch although controlPlane knows users; pushes ask in any case", byDefault = "false") boolean anonymousReads,
            @Setting(value = "Git processes at the same time; beyond it requests are answered 503", byDefault = "32", accepts = "1..1024") int maxProcesses,
            @Setting(value = "How long one Git request may take; an hour lets slow links clone large repositories", byDefault = "1h", accepts = "1s or more") Duration maxDuration,
            @Setting(value = "Memory of one Git process; a repository of some million objects needs more", byDefault = "256MiB", accepts = "64MiB or more") ByteSize maxProcessMemory,
            @Setting(value = "Largest pack that a push may send", byDefault = "2GiB", accepts = "1MiB or more") ByteSize maxPush,
            @Setting(value = "Whether pushes may delete refs, move tags and drop commits from branches; with controlPlane its rules decide instead", byDefault = "false") boolean allowRewrites) {
        private static final ByteSize PUSH = ByteSize.parse("2GiB");
        private static final ByteSize PROCESS_MEMORY = ByteSize.parse("256MiB");

        public Git {
            if (maxProcesses < 1 || maxProcesses > 1024) {
                throw new ConfigException("maxProcesses", "1..1024; remove the key for the default 32");
            }
            if (maxDuration.compareTo(Duration.ofSeconds(1)) < 0) {
                throw new ConfigException("maxDuration", "1s or more; remove the key for the default 1h");
            }
            if (maxProcessMemory.bytes() < 64 << 20) {
                throw new ConfigException("maxProcessMemory",
                        "64MiB or more; remove the key for the default 256MiB");
            }
            if (maxPush.bytes() < 1 << 20) {
                throw new ConfigException("maxPush", "1MiB or more; remove the key for the default 2GiB");
            }
        }

        /** Makes a handler whose pushes lose nothing. */
        public Git(Path repositories, boolean allowPush, boolean anonymousReads, int maxProcesses,
                Duration maxDuration, ByteSize maxProcessMemory, ByteSize maxPush) {
            this(repositories, allowPush, anonymousReads, maxProcesses, maxDuration, maxProcessMemory,
                    maxPush,
                    false);
        }

        /** Makes a handler with the default memory of processes and size of pushes. */
        public Git(Path repositories, boolean allowPush, boolean anonymousReads, int maxProcesses,
                Duration maxDuration) {
            this(repositories, allowPush, anonymousReads, maxProcesses, maxDuration, PROCESS_MEMORY, PUSH,
                    false);
        }

        /** Makes a read-only handler with the defaults. */
        public static Git of(Path repositories) {
            return new Git(repositories, false, false, 32, Duration.ofHours(1));
        }
    }
}
