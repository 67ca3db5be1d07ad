package dev.culvert.web;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import reactor.core.publisher.Mono;

/**
 * The style sheets and scripts of the pages, read from the class path and compressed once. They are served to
 * anyone, because they hold nothing secret. Immutable.
 */
public final class Assets {
    static final String PREFIX = "/assets/";
    private static final int HASH_DIGITS = 16;
    private static final String FOREVER = "public, max-age=31536000, immutable";
    private static final String JARS = "/META-INF/resources/webjars/";
    private static final String SCRIPT = "text/javascript; charset=utf-8";
    private static final String STYLE = "text/css; charset=utf-8";

    private final Map<String, Asset> byName = new LinkedHashMap<>();
    private final Map<String, Asset> byUrl = new HashMap<>();

    private Assets() {}

    /** Reads the assets of all pages. Blocks. */
    public static Assets load() {
        return new Assets().with("culvert.css", "culvert.css", STYLE)
                .with("culvert.js", "culvert.js", SCRIPT)
                .with("icon.svg", "icon.svg", "image/svg+xml")
                .with("htmx.js", JARS + "htmx.org/2.0.10/dist/htmx.min.js", SCRIPT)
                .with("sse.js", JARS + "htmx-ext-sse/2.2.2/sse.js", SCRIPT);
    }

    private Assets with(String name, String resource, String mediaType) {
        return with(name, Assets.class, resource, mediaType);
    }

    /**
     * Adds an asset of a page's own module. Blocks. Call it before the assets are served.
     *
     * @param name its name in templates
     * @param owner a class beside which the resource is
     */
    public Assets with(String name, Class<?> owner, String resource, String mediaType) {
        byte[] content = read(owner, resource);
        int dot = name.lastIndexOf('.');
        String url = PREFIX + name.substring(0, dot) + '.' + hash(content) + name.substring(dot);
        Asset asset = new Asset(url, mediaType, ByteBuffer.wrap(content), ByteBuffer.wrap(gzip(content)));
        byName.put(name, asset);
        byUrl.put(url, asset);
        return this;
    }

    /** The URL of an asset. Throws IllegalArgumentException for an unknown name. */
    public String url(String name) {
        Asset asset = byName.get(name);
        if (asset == null) {
            throw new IllegalArgumentException("there is no asset " + name);
        }
        return asset.url();
    }

    Mono<EdgeResponse> answer(EdgeRequest request) {
        Asset asset = byUrl.get(request.path());
        if (asset == null) {
            return Mono.error(HandlerException.of(Reason.NOT_FOUND, "there is no such file"));
        }
        if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
            return Mono.error(HandlerException.methodNotAllowed(HttpMethod.GET, HttpMethod.HEAD));
        }
        boolean compressed = acceptsGzip(request.headers());
        EdgeResponse.Http response = EdgeResponse.Http
                .of(HttpResponseStatus.OK, asset.mediaType(),
                        (compressed ? asset.gzip() : asset.plain()).array())
                .with(HttpHeaderNames.CACHE_CONTROL, FOREVER)
                .with(HttpHeaderNames.VARY, HttpHeaderNames.ACCEPT_ENCODING);
        return Mono.just(PageFields.common(
                compressed ? response.with(HttpHeaderNames.CONTENT_ENCODING, "gzip") : response));
    }

    /** Whether the caller names gzip without a weight, as browsers do. A weight is not worth parsing. */
    private static boolean acceptsGzip(HttpHeaders headers) {
        return headers.getAll(HttpHeaderNames.ACCEPT_ENCODING)
                .stream()
                .flatMap(line -> Arrays.stream(line.split(",", -1)))
                .anyMatch(coding -> coding.strip().equalsIgnoreCase("gzip"));
    }

    private static byte[] read(Class<?> owner, String resource) {
        try (var stream = owner.getResourceAsStream(resource)) {
            if (stream == null) {
                throw new IOException("the class path has no " + resource);
            }
            return stream.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static byte[] gzip(byte[] content) {
        var bytes = new ByteArrayOutputStream();
        try (var stream = new GZIPOutputStream(bytes) {
            {
                def.setLevel(Deflater.BEST_COMPRESSION);
            }
        }) {
            stream.write(content);
        } catch (IOException e) {
            throw new UncheckedIOException("memory does not fail", e);
        }
        return bytes.toByteArray();
    }

    private static String hash(byte[] content) {
        return HexFormat.of().formatHex(sha256(content)).substring(0, HASH_DIGITS);
    }

    static byte[] sha256(byte[] content) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(content);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    static byte[] sha256(String text) {
        return sha256(text.getBytes(StandardCharsets.UTF_8));
    }
}
