package dev.culvert.appproxy;

import dev.culvert.appproxy.access.ControlPlaneSettings;
import dev.culvert.appproxy.argo.ApplicationsSettings;
import dev.culvert.appproxy.argo.RolloutsSettings;
import dev.culvert.appproxy.argo.WorkflowsSettings;
import dev.culvert.appproxy.commits.CommitsSettings;
import dev.culvert.edge.config.ConfigException;
import dev.culvert.edge.config.HostPort;
import dev.culvert.edge.config.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * The App-Proxy's configuration: {@code app-proxy.yaml}, its variables and flags.
 *
 * @param listen where it listens
 * @param runtime the runtime it serves, told to clients; null when it was not told
 * @param controlPlane who knows users and rules; null: nobody may anything that needs permission
 * @param audit folder of the audit log; null: its records are lines of the log
 * @param handlers which handlers it has
 */
public record AppProxyConfig(
        @Setting(value = "Address of the HTTP listener; port 0 picks a free one", byDefault = "0.0.0.0:3017") HostPort listen,
        @Setting(value = "Name of the runtime it serves, shown by the info handler", accepts = "account/name") @Nullable String runtime,
        @Nullable ControlPlaneSettings controlPlane,
        @Setting("Folder of the audit log, audit-changes.log and audit-refused.log, made when absent; left out: its records are lines of the log") @Nullable Path audit,
        Handlers handlers) {

    /** With a listener and handlers, and the defaults of everything else. */
    public static AppProxyConfig of(HostPort listen, @Nullable String runtime, Handlers handlers) {
        return new AppProxyConfig(listen, runtime, null, null, handlers);
    }

    /** The same with a control plane, and a folder for the audit log. */
    public AppProxyConfig with(ControlPlaneSettings plane, @Nullable Path auditFolder) {
        return new AppProxyConfig(listen, runtime, plane, auditFolder, handlers);
    }

    /**
     * The handlers that are served; those left out are not. Without any, {@code info} is. A component's name is the handler's,
     * its type that of the handler's settings: a new handler adds one component, and nothing else here.
     *
     * @param info {@code GET /app-proxy/api/info}
     * @param git {@code /app-proxy/git/{repository}.git}
     * @param workflows state changes, logs and events of Argo Workflows
     * @param rollouts state changes of Argo Rollouts
     * @param applications state changes and logs of Argo CD's applications
     * @param commits commits to Git repositories, through GraphQL
     */
    public record Handlers(@Setting("The info handler; it has nothing to set") @Nullable Info info,
            @Nullable Git git, @Nullable WorkflowsSettings workflows, @Nullable RolloutsSettings rollouts,
            @Nullable ApplicationsSettings applications, @Nullable CommitsSettings commits) {
        /** The handlers with these settings, each told by its type. */
        public static Handlers of(Record... settings) {
            return HandlerSettings.placed(List.of(settings));
        }

        /** The settings of the handlers that are served, by the handler's name. */
        SortedMap<String, Record> served() {
            return HandlerSettings.served(this);
        }
    }

    /** The info handler: nothing to set. */
    public record Info() {}

    /**
     * The Git handler.
     *
     * @param repositories folder of bare repositories named {@code <repository>.git}
     * @param allowPush whether pushes are taken
     * @param maxProcesses how many requests are served at the same time, 1..1024
     * @param maxDuration how long one request may take in all
     */
    public record Git(
            @Setting("Folder of bare repositories, each named <repository>.git") Path repositories,
            @Setting(value = "Whether pushes are taken; off, because this listener does not authenticate", byDefault = "false") boolean allowPush,
            @Setting(value = "Git processes at the same time; beyond it requests are answered 503", byDefault = "32", accepts = "1..1024") int maxProcesses,
            @Setting(value = "How long one Git request may take; an hour lets slow links clone large repositories", byDefault = "1h", accepts = "1s or more") Duration maxDuration) {
        public Git {
            if (maxProcesses < 1 || maxProcesses > 1024) {
                throw new ConfigException("maxProcesses", "1..1024; remove the key for the default 32");
            }
            if (maxDuration.compareTo(Duration.ofSeconds(1)) < 0) {
                throw new ConfigException("maxDuration", "1s or more; remove the key for the default 1h");
            }
        }

        /** Read-only, with the defaults. */
        public static Git of(Path repositories) {
            return new Git(repositories, false, 32, Duration.ofHours(1));
        }
    }
}
