package dev.culvert.appproxy.credentials;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Stores records in secrets of one namespace: {@code git-default-<account>} has the tokens of users, {@code
 * runtime-repo-creds-secret} those of the runtime. The key of a record is the URL-safe base64 of its place.
 * The App-Proxy is the only writer.
 */
final class KubernetesTokenStore implements TokenStore {
    static final String USERS = "git-default-";
    static final String RUNTIME = "runtime-repo-creds-secret";

    /** Argo CD uses secrets with this label as credentials of repositories. */
    private static final String TYPE_LABEL = "argocd.argoproj.io/secret-type";
    private static final String OWNER_LABEL = "app.kubernetes.io/managed-by";
    private static final String OWNER = "culvert";

    private final KubernetesClient client;
    private final String namespace;

    KubernetesTokenStore(KubernetesClient client, String namespace) {
        this.client = client;
        this.namespace = namespace;
    }

    @Override
    public Map<TokenPlace, String> read() throws IOException {
        try {
            var records = new LinkedHashMap<TokenPlace, String>();
            client.secrets()
                    .inNamespace(namespace)
                    .withLabel(OWNER_LABEL, OWNER)
                    .list()
                    .getItems()
                    .forEach(secret -> read(secret, records));
            return records;
        } catch (KubernetesClientException | IllegalArgumentException e) {
            throw new IOException("the secrets with Git tokens can't be read", e);
        }
    }

    @Override
    public void write(TokenPlace place, @Nullable String record) throws IOException {
        String name = place.isRuntime() ? RUNTIME : USERS + place.account();
        try {
            Secret known = client.secrets().inNamespace(namespace).withName(name).get();
            var data = new LinkedHashMap<String, String>();
            if (known != null && known.getData() != null) {
                data.putAll(known.getData());
            }
            String key = encoded(Base64.getUrlEncoder().withoutPadding(), place.key());
            if (record == null) {
                data.remove(key);
            } else {
                data.put(key, encoded(Base64.getEncoder(), record));
            }
            Secret secret = new SecretBuilder().withMetadata(metadata(known, name, place))
                    .withType("Opaque")
                    .withData(data)
                    .build();
            var resource = client.secrets().inNamespace(namespace).resource(secret);
            if (known == null) {
                resource.create();
            } else {
                resource.update(); // with the version that was read: no lost updates
            }
        } catch (KubernetesClientException e) {
            throw new IOException("the secret " + name + " can't be written (" + e.getCode() + ")", e);
        }
    }

    private static ObjectMeta metadata(@Nullable Secret known, String name, TokenPlace place) {
        ObjectMeta metadata = known == null ? new ObjectMeta() : known.getMetadata();
        metadata.setName(name);
        var labels = new LinkedHashMap<String, String>();
        if (metadata.getLabels() != null) {
            labels.putAll(metadata.getLabels());
        }
        labels.put(OWNER_LABEL, OWNER);
        if (place.isRuntime()) {
            labels.put(TYPE_LABEL, "repo-creds");
        }
        metadata.setLabels(labels);
        return metadata;
    }

    private static void read(Secret secret, Map<TokenPlace, String> records) {
        String name = secret.getMetadata().getName();
        if (secret.getData() != null && (name.equals(RUNTIME) || name.startsWith(USERS))) {
            secret.getData().forEach((key, record) -> {
                TokenPlace place = place(key);
                if (place != null) {
                    records.put(place, new String(Base64.getDecoder().decode(record),
                            StandardCharsets.US_ASCII));
                }
            });
        }
    }

    /**
     * The place of a record; null for other data, such as the url and password that Argo CD reads from the
     * same secret.
     */
    private static @Nullable TokenPlace place(String key) {
        try {
            return TokenPlace.parse(new String(Base64.getUrlDecoder().decode(key), StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static String encoded(Base64.Encoder encoder, String text) {
        return encoder.encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
