package dev.culvert.http.fields;

import java.util.Locale;

/** The form in which host names are compared: lower case, without port and trailing dot. */
public final class HostName {
    private HostName() {}

    /**
     * The host of an authority ({@code Host}, {@code :authority}) in its compared form. Never throws: an
     * invalid authority equals the host of no runtime. Returns {@code authority} itself when it is in that
     * form already.
     */
    public static String of(String authority) {
        int end = authority.length();
        int colon = authority.lastIndexOf(':');
        if (colon >= 0 && authority.indexOf(']', colon) < 0) {
            end = colon;
        }
        if (end > 0 && authority.charAt(end - 1) == '.') {
            end--;
        }
        return authority.substring(0, end).toLowerCase(Locale.ROOT);
    }
}
