package dev.culvert.platform.directory.store;

/** A key that was just made; the only moment in which its text is known here. */
public record IssuedKey(StoredKey key, KeyText text) {}
