package dev.culvert.appproxy.credentials;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reads keys from a secret or a file, and stores records in secrets of the namespace. */
final class KubernetesTokenVault implements TokenVault {
    private static final String KEYS = "keys";

    private final String namespace;
    private final @Nullable Path keyFile;
    private final @Nullable String keySecret;
    private final Supplier<KubernetesClient> connect;
    private @Nullable KubernetesClient client;

    KubernetesTokenVault(String namespace, @Nullable Path keyFile, @Nullable String keySecret) {
        this(namespace, keyFile, keySecret, () -> new KubernetesClientBuilder().build());
    }

    /** @param connect called once, on a thread that may block */
    KubernetesTokenVault(String namespace, @Nullable Path keyFile, @Nullable String keySecret,
            Supplier<KubernetesClient> connect) {
        this.namespace = namespace;
        this.keyFile = keyFile;
        this.keySecret = keySecret;
        this.connect = connect;
    }

    @Override
    public TokenKeys keys() throws IOException {
        if (keyFile != null) {
            return TokenKeys.load(keyFile);
        }
        try {
            Secret secret = client().secrets().inNamespace(namespace).withName(keySecret).get();
            String data = secret == null || secret.getData() == null ? null : secret.getData().get(KEYS);
            String where = "secret " + namespace + "/" + keySecret + ", key " + KEYS;
            if (data == null) {
                throw new IOException(where + ": not there (expected: 32 bytes in base64 a line)");
            }
            return TokenKeys.parse(
                    new String(Base64.getDecoder().decode(data), StandardCharsets.US_ASCII), where);
        } catch (KubernetesClientException e) {
            throw new IOException("the Kubernetes API refused to read the keys", e);
        }
    }

    @Override
    public TokenStore store() {
        return new KubernetesTokenStore(client(), namespace);
    }

    private synchronized KubernetesClient client() {
        KubernetesClient known = client;
        if (known == null) {
            known = connect.get();
            client = known;
        }
        return known;
    }
}
