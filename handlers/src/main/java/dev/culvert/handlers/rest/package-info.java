/** REST resources: path templates and JSON request bodies. */
@NullMarked
package dev.culvert.handlers.rest;

import org.jspecify.annotations.NullMarked;
