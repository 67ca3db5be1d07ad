package dev.culvert.platform.directory;

/** A key that was just made; the only moment in which its text is known here. */
record IssuedKey(StoredKey key, KeyText text) {}
