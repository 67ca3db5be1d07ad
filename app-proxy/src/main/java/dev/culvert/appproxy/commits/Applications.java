package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.commits.CommitsSettings.SharedConfiguration;
import dev.culvert.appproxy.commits.git.Branch;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Makes and changes manifests of Argo CD Applications. */
final class Applications {
    /** Argo CD's name for the cluster that it runs in. */
    static final String IN_CLUSTER = "https://kubernetes.default.svc";

    private static final Pattern NAME = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");

    private Applications() {}

    /** Returns the name. Errors: HandlerException BAD_REQUEST for a name that Kubernetes does not accept. */
    static String checkedName(String name) {
        if (!NAME.matcher(name).matches()) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "appName is no name for an Application (expected: lower-case letters, digits and hyphens, at most 63)");
        }
        return name;
    }

    /** The Application that applies a runtime's part of the shared configuration repository. */
    static Map<String, Object> inCluster(String namespace, String repoUrl, Branch branch, String folder,
            String include) {
        return application("in-cluster", namespace, "default",
                Manifest.of("culvert.dev/entity", "runtime-configuration"),
                Manifest.of("repoURL", repoUrl, "path", folder, "targetRevision", branch.name(), "directory",
                        Manifest.of("include", include, "recurse", true)),
                Manifest.of("namespace", namespace, "server", IN_CLUSTER));
    }

    /** The Application of a Git Source. */
    static Map<String, Object> gitSource(SharedConfiguration settings, CommitArguments arguments) {
        String namespace = settings.namespace();
        SourceSpecifier source = SourceSpecifier.of(arguments.required("appSpecifier"),
                settings.localSources());
        Branch branch = source.branch();
        return application(checkedName(arguments.required("appName")), namespace, settings.project(),
                Manifest.of("culvert.dev/entity", "git-source", "culvert.dev/internal",
                        arguments.flag("isInternal") ? "true" : null),
                Manifest.of("repoURL", source.repository(), "path", source.path(), "targetRevision",
                        branch == null ? "HEAD" : branch.name(), "directory",
                        Manifest.of("recurse", true, "include", filled(arguments.text("include")), "exclude",
                                filled(arguments.text("exclude")))),
                Manifest.of("server", arguments.text("destServer", IN_CLUSTER), "namespace",
                        arguments.text("destNamespace", namespace)));
    }

    /** Changes a Git Source's Application. Fields without an argument stay. */
    static Map<String, Object> edited(SharedConfiguration settings, Map<String, Object> application,
            CommitArguments arguments, String path) {
        if (!(application.get("metadata") instanceof Map<?, ?> metadata
                && metadata.get("labels") instanceof Map<?, ?> labels
                && "git-source".equals(labels.get("culvert.dev/entity")))) {
            throw HandlerException.of(Reason.CONFLICT, "not a Git Source: " + path);
        }
        Map<String, Object> source = Manifest.member(Manifest.member(application, "spec", path), "source",
                path);
        String specifier = arguments.text("appSpecifier");
        if (specifier != null) {
            SourceSpecifier changed = SourceSpecifier.of(specifier, settings.localSources());
            Branch branch = changed.branch();
            source.put("repoURL", changed.repository());
            source.put("path", changed.path());
            source.put("targetRevision", branch == null ? "HEAD" : branch.name());
        }
        Map<String, Object> directory = Manifest.member(source, "directory", path);
        for (String name : List.of("include", "exclude")) {
            String glob = arguments.text(name);
            if (glob != null && glob.isBlank()) {
                directory.remove(name);
            } else if (glob != null) {
                directory.put(name, glob);
            }
        }
        return application;
    }

    /**
     * The attributes of an Application for rules: its destination and source. Fields that are absent, or have
     * another form than in Git Sources, are left out.
     */
    static Map<String, String> attributes(Map<String, Object> application) {
        Map<?, ?> spec = inner(application, "spec");
        Map<?, ?> destination = inner(spec, "destination");
        Map<?, ?> source = inner(spec, "source");
        Map<String, String> attributes = new HashMap<>();
        put(attributes, "project", spec.get("project"));
        put(attributes, "cluster", destination.get("server"));
        put(attributes, "namespace", destination.get("namespace"));
        put(attributes, "sourceRepository", source.get("repoURL"));
        put(attributes, "sourcePath", source.get("path"));
        put(attributes, "sourceRevision", source.get("targetRevision"));
        return attributes;
    }

    private static Map<?, ?> inner(Map<?, ?> object, String name) {
        return object.get(name) instanceof Map<?, ?> member ? member : Map.of();
    }

    private static void put(Map<String, String> attributes, String name, @Nullable Object value) {
        if (value instanceof String text) {
            attributes.put(name, text);
        }
    }

    private static Map<String, Object> application(String name, String namespace, String project,
            Map<String, Object> labels,
            Map<String, Object> source, Map<String, Object> destination) {
        return Manifest.of("apiVersion", "argoproj.io/v1alpha1", "kind", "Application", "metadata",
                Manifest.of("name", name, "namespace", namespace, "labels", labels, "finalizers",
                        List.of("resources-finalizer.argocd.argoproj.io")),
                "spec",
                Manifest.of("project", project, "source", source, "destination", destination, "syncPolicy",
                        Manifest.of("automated",
                                Manifest.of("allowEmpty", true, "prune", true, "selfHeal", true),
                                "syncOptions", List.of("allowEmpty=true"))));
    }

    private static @Nullable String filled(@Nullable String text) {
        return text == null || text.isBlank() ? null : text;
    }
}
