package dev.culvert.appproxy.credentials;

import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The storage of encrypted Git tokens: a file, or Kubernetes secrets.
 *
 * @param folder the folder of the file {@code git-tokens.json}; null with {@code namespace}
 * @param keyFile the file of keys, one in each line; null with {@code keySecret}
 * @param namespace the namespace of the secrets; null with {@code folder}
 * @param keySecret the secret that has the keys under {@code keys}; null with {@code keyFile}
 */
public record TokensConfig(
        @Setting("Folder of the file git-tokens.json, which is encrypted and 0600") @Nullable Path folder,
        @Setting(value = "File (0600) of keys: 32 bytes in base64 a line. The first encrypts, all decrypt; made, with one key, when absent", accepts = "a path") @Nullable Path keyFile,
        @Setting("Kubernetes namespace whose secrets keep the tokens, instead of folder") @Nullable String namespace,
        @Setting("Kubernetes secret of that namespace with the keys under keys, instead of keyFile") @Nullable String keySecret) {
    public TokensConfig {
        if ((folder == null) == (namespace == null)) {
            throw new ConfigException("folder", "either a folder or a namespace");
        }
        if ((keyFile == null) == (keySecret == null) || (keySecret != null && namespace == null)) {
            throw new ConfigException("keyFile", "either a keyFile or, with a namespace, a keySecret");
        }
    }

    /** Makes a configuration with files. */
    public static TokensConfig files(Path folder, Path keyFile) {
        return new TokensConfig(folder, keyFile, null, null);
    }
}
