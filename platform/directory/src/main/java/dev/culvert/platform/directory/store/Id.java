package dev.culvert.platform.directory.store;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** The ids of accounts, users, keys, teams and rules: 24 hexadecimal digits. */
public final class Id {
    static final int BYTES = 12;
    private static final Pattern FORM = Pattern.compile("[0-9a-f]{24}");
    private static final SecureRandom RANDOM = new SecureRandom();

    private Id() {}

    public static String create() {
        byte[] bytes = new byte[BYTES];
        RANDOM.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    public static boolean valid(String text) {
        return FORM.matcher(text).matches();
    }
}
