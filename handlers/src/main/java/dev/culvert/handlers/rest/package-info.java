/** JSON request bodies of REST resources. */
@NullMarked
package dev.culvert.handlers.rest;

import org.jspecify.annotations.NullMarked;
