package dev.culvert.server;

import dev.culvert.certs.Pem;
import dev.culvert.certs.PemFiles;
import dev.culvert.config.ConfigException;
import dev.culvert.config.Reason;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.server.access.AccessFields;
import dev.culvert.server.access.AccessRules;
import dev.culvert.server.direct.PlatformHost;
import dev.culvert.server.runtime.RuntimeUpstream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Reads the files that the configuration of the platform's host names. */
final class PlatformFiles {
    /** Far above any rules. */
    private static final int MAX_RULES_BYTES = 64 << 10;

    private PlatformFiles() {}

    /**
     * Returns the host of the platform, or null if none is configured. Blocks. Throws {@link
     * dev.culvert.certs.CertsException}, and ConfigException for rules that can't be used.
     */
    static @Nullable PlatformHost load(ServerConfig.@Nullable Platform config) {
        if (config == null) {
            return null;
        }
        Path ca = config.ca();
        String authorities = ca == null ? null : Pem.text(PemFiles.readCertificates(ca));
        return new PlatformHost(config.host(), new RuntimeUpstream(config.to(), authorities),
                config.limits().all(), rules(config.access()));
    }

    private static AccessRules rules(@Nullable Path file) {
        if (file == null) {
            return AccessRules.NONE;
        }
        try (InputStream in = Files.newInputStream(file)) {
            byte[] json = in.readNBytes(MAX_RULES_BYTES + 1);
            if (json.length > MAX_RULES_BYTES) {
                throw invalid("it has more than " + MAX_RULES_BYTES + " bytes");
            }
            return AccessFields.given(json);
        } catch (HandlerException wrong) {
            throw invalid(wrong.detail());
        } catch (IOException e) {
            throw invalid(Reason.of(e));
        }
    }

    private static ConfigException invalid(String why) {
        return new ConfigException("edge.platform.access",
                "a file of access rules as docs/access.md describes them; " + why);
    }
}
