package dev.culvert.client.identity;

import dev.culvert.client.dial.ClientConfig;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The Kubernetes secret that keeps the files of an identity folder, for replicas of one client. Of several
 * writers of one version one wins. All calls block; one at a time.
 */
final class IdentitySecret {
    /** A slow API must not hold up a start. A failed call is repeated by its caller. */
    private static final int TIMEOUT_MILLIS = 10_000;

    private final String name;
    private final @Nullable String namespace;
    private final Supplier<KubernetesClient> connect;
    /** The version that was read or written last; null before that, and if there was none. */
    private @Nullable Secret known;

    IdentitySecret(ClientConfig.IdentitySecretName secret) {
        this(secret, IdentitySecret::connect);
    }

    /** @param connect called for each operation: there are a few in a day */
    IdentitySecret(ClientConfig.IdentitySecretName secret, Supplier<KubernetesClient> connect) {
        this.name = secret.name();
        this.namespace = secret.namespace();
        this.connect = connect;
    }

    /** With the pod's service account, or where the environment says (KUBERNETES_MASTER, KUBECONFIG). */
    private static KubernetesClient connect() {
        Config config = new ConfigBuilder().withConnectionTimeout(TIMEOUT_MILLIS)
                .withRequestTimeout(TIMEOUT_MILLIS)
                .withRequestRetryBackoffLimit(0)
                .build();
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    /** Reads the files, by name; empty if there is no secret. */
    synchronized Map<String, byte[]> read() throws IOException {
        try (KubernetesClient client = connect.get()) {
            known = client.secrets().inNamespace(place(client)).withName(name).get();
        } catch (KubernetesClientException e) {
            throw failed("read", e);
        }
        var files = new TreeMap<String, byte[]>();
        if (known != null && known.getData() != null) {
            for (var entry : known.getData().entrySet()) {
                files.put(entry.getKey(), decoded(entry.getKey(), entry.getValue()));
            }
        }
        return files;
    }

    /**
     * Replaces the files, if nobody has since the last {@link #read} or {@link #write}.
     *
     * @return false if somebody has; then nothing is changed
     */
    synchronized boolean write(Map<String, byte[]> files) throws IOException {
        var data = new LinkedHashMap<String, String>();
        files.forEach((file, content) -> data.put(file, Base64.getEncoder().encodeToString(content)));
        Secret before = known;
        try (KubernetesClient client = connect.get()) {
            var metadata = before == null
                    ? new ObjectMetaBuilder().withName(name)
                            .addToLabels("app.kubernetes.io/managed-by", "culvert")
                            .build()
                    : before.getMetadata();
            Secret secret = new SecretBuilder().withMetadata(metadata)
                    .withType("Opaque")
                    .withData(data)
                    .build();
            var resource = client.secrets().inNamespace(place(client)).resource(secret);
            // An update has the version that was read, a creation fails where there is a secret.
            known = before == null ? resource.create() : resource.update();
            return true;
        } catch (KubernetesClientException e) {
            if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
                return false;
            }
            throw failed("written", e);
        }
    }

    private String place(KubernetesClient client) {
        return Objects.requireNonNullElse(namespace,
                Objects.requireNonNullElse(client.getConfiguration().getNamespace(), "default"));
    }

    private byte[] decoded(String file, String text) throws IOException {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            throw new IOException("the secret " + name + " has no base64 under " + file, e);
        }
    }

    private IOException failed(String what, KubernetesClientException e) {
        String why = e.getCode() > 0 ? String.valueOf(e.getCode()) : "the Kubernetes API does not answer";
        return new IOException("the secret " + name + " can't be " + what + ": " + why, e);
    }
}
