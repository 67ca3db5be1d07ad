package dev.culvert.platform.triggers;

import dev.culvert.config.Setting;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * {@code handlers.triggers} of control-plane.yaml.
 *
 * @param url where providers reach this platform
 */
public record TriggersSettings(
        @Setting("URL at which providers reach this platform, as https://platform.example.com; left out: help shows paths alone") @Nullable URI url) {}
