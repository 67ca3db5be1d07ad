package dev.culvert.platform.host.rest;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.host.rest.JsonBodies.Items;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A part of a list that a caller asks for, in the order of a text that is unique in the list.
 *
 * @param limit the number of items, at most
 * @param after the text of the item before the page; empty: from the beginning
 * @param list what the list is: the account, the call and its query. A cursor of another one is refused
 */
public record Page(int limit, String after, String list) {
    /** The largest page. */
    public static final int MAX = 200;
    private static final int DEFAULT = 100;
    /** A cursor proves nothing, since each page is judged: its digest finds mistakes. */
    private static final int DIGEST = 9;

    /** Throws HandlerException BAD_REQUEST. */
    static Page of(@Nullable String limit, @Nullable String next, String list) {
        return new Page(limit == null ? DEFAULT : number(limit), next == null ? "" : position(next, list),
                list);
    }

    private static int number(String limit) {
        if (!limit.matches("[0-9]{1,3}") || Integer.parseInt(limit) < 1 || Integer.parseInt(limit) > MAX) {
            throw wrong("limit", "a number from 1 to " + MAX);
        }
        return Integer.parseInt(limit);
    }

    private static String position(String next, String list) {
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(next);
            String after = new String(bytes, DIGEST, Math.max(0, bytes.length - DIGEST),
                    StandardCharsets.UTF_8);
            if (MessageDigest.isEqual(Arrays.copyOf(bytes, DIGEST), digest(list, after))) {
                return after;
            }
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            // as one of another list
        }
        throw wrong("next", "what the page before gave as next, with the same query");
    }

    private static HandlerException wrong(String name, String expected) {
        return HandlerException.of(Reason.BAD_REQUEST,
                "query " + name + ": no such page (expected: " + expected
                        + ")");
    }

    /** The number of items to look for: one more tells whether there is a page behind this one. */
    public int read() {
        return limit + 1;
    }

    /**
     * The page.
     *
     * @param found {@link #read} items, or all there are
     * @param position the text by which an item is found
     */
    public <T> Items<T> of(List<T> found, Function<T, String> position) {
        if (found.size() <= limit) {
            return Items.of(found);
        }
        List<T> shown = found.subList(0, limit);
        return new Items<>(shown, cursor(position.apply(shown.getLast())));
    }

    private String cursor(String last) {
        byte[] text = last.getBytes(StandardCharsets.UTF_8);
        byte[] bytes = Arrays.copyOf(digest(list, last), DIGEST + text.length);
        System.arraycopy(text, 0, bytes, DIGEST, text.length);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private static byte[] digest(String list, String after) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update((list.length() + ":" + list).getBytes(StandardCharsets.UTF_8));
            return Arrays.copyOf(digest.digest(after.getBytes(StandardCharsets.UTF_8)), DIGEST);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
