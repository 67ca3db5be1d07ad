package dev.culvert.platform.triggers.registry;

import dev.culvert.platform.triggers.hermes.EventBody;
import dev.culvert.platform.triggers.hermes.Happening;
import dev.culvert.platform.triggers.hermes.Variables;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The registries, and what each sends. */
enum Registry {
    /** docs.docker.com/docker-hub/repos/manage/webhooks. */
    DOCKERHUB("registry", "dockerhub", "Docker Hub", "/dockerhub", "the namespace, as acme",
            "the repository's name, as web") {
        @Override
        List<RegistryPush> pushes(EventBody body) {
            return Pushes.dockerHub(body);
        }
    },
    /** docs.quay.io/guides/notifications.html. */
    QUAY("registry", "quay", "Quay", "/quay", "the namespace, as acme", "the repository's name, as web") {
        @Override
        List<RegistryPush> pushes(EventBody body) {
            return Pushes.quay(body);
        }
    },
    /** The webhooks of Artifactory, and those of its older plugin. */
    JFROG("registry", "jfrog", "JFrog Artifactory", "/jfrog", "the repository's key, as docker-local",
            "the image's name, as acme/web") {
        @Override
        List<RegistryPush> pushes(EventBody body) {
            return Pushes.jfrog(body);
        }
    },
    /** learn.microsoft.com/azure/container-registry/container-registry-webhook-reference. */
    AZURE("registry", "azure", "Azure Container Registry", "/azure", "the registry's name, as acme",
            "the repository, as team/web") {
        @Override
        List<RegistryPush> pushes(EventBody body) {
            return Pushes.azure(body);
        }
    },
    /** distribution.github.io/distribution/about/notifications. */
    DOCKER("registry", "docker", "a registry of Docker's Distribution", "/docker",
            "what stands before the name, as acme; _ for nothing",
            "the last part of the repository, as web") {
        @Override
        List<RegistryPush> pushes(EventBody body) {
            return Pushes.distribution(body);
        }

        @Override
        boolean hasAny() {
            return true;
        }
    },
    /** Charts in Artifactory. */
    HELM("helm", "jfrog", "JFrog Artifactory", "/helm", "the repository's key, as helm-local",
            "the chart's file, as web-1.2.0.tgz") {
        @Override
        List<RegistryPush> pushes(EventBody body) {
            return Pushes.helm(body);
        }
    };

    private final String type;
    private final String kind;
    private final String title;
    private final String path;
    private final String namespace;
    private final String repository;

    Registry(String type, String kind, String title, String path, String namespace, String repository) {
        this.type = type;
        this.kind = kind;
        this.title = title;
        this.path = path;
        this.namespace = namespace;
        this.repository = repository;
    }

    /** The pushes that a body tells of; empty for other events. Throws HandlerException BAD_REQUEST. */
    abstract List<RegistryPush> pushes(EventBody body);

    /** Whether one event may be for all repositories. */
    boolean hasAny() {
        return false;
    }

    String type() {
        return type;
    }

    String kind() {
        return kind;
    }

    String title() {
        return title;
    }

    /** The path of its webhooks below {@link RegistryCalls#ROOT}. */
    String path() {
        return path;
    }

    /** What a namespace is, in words. */
    String namespace() {
        return namespace;
    }

    /** What a name is, in words. */
    String repository() {
        return repository;
    }

    /** The URI of an event without its account. */
    String uri(String namespaceOf, String nameOf) {
        return type + ":" + kind + ":" + namespaceOf + ":" + nameOf + ":push";
    }

    /**
     * What a body tells, for each event that it may be for. Throws HandlerException BAD_REQUEST.
     *
     * @param accountPart the end of the events' URIs
     * @param delivery what names the whole message; null: nothing does
     */
    List<Happening> happenings(EventBody body, String accountPart, String text, @Nullable String delivery) {
        List<Happening> happened = new ArrayList<>();
        int number = 0;
        for (RegistryPush push : pushes(body)) {
            String key = delivery == null ? push.delivery() : delivery + " " + number++;
            Map<String, String> fields = push.fields(this);
            Map<String, String> variables = Variables.of(fields, text);
            for (String uri : uris(push)) {
                happened.add(new Happening(uri + ":" + accountPart, key, fields, variables, null));
            }
        }
        return happened;
    }

    private List<String> uris(RegistryPush push) {
        String own = uri(push.namespace(), push.name());
        return hasAny()
                ? List.of(own, uri(push.namespace(), RegistryKind.ANY),
                        uri(RegistryKind.ANY, RegistryKind.ANY))
                : List.of(own);
    }
}
