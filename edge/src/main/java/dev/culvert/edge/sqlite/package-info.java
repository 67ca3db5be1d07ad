/**
 * Embedded databases: one SQLite file, its versions, and the right of one process to change it. Read {@link
 * dev.culvert.edge.sqlite.SqliteDatabase} first. What is stored is its owner's: see {@link dev.culvert.edge.sqlite.SqliteSchema}.
 */
@NullMarked
package dev.culvert.edge.sqlite;

import org.jspecify.annotations.NullMarked;
