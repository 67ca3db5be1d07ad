package dev.culvert.appproxy.repositories.provider;

/**
 * A kind of Git provider. The name in upper case is the platform's; {@link #key} is that of configuration
 * files.
 */
public enum ProviderKind {
    GITHUB("github"), GITLAB("gitlab"), BITBUCKET("bitbucket"), BITBUCKET_SERVER(
            "bitbucket-server"), GITEA("gitea"), FOLDER("folder");

    private final String key;

    ProviderKind(String key) {
        this.key = key;
    }

    /** The name in configuration files, as {@code bitbucket-server}. */
    public String key() {
        return key;
    }
}
