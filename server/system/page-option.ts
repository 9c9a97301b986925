/**
 * One option in the body of a request, and the parameter by which the page of monitoring takes it. Some go by the same
 * name, others don't; a page that nobody else asks for has options alone.
 */

import { bytesAsText } from '../monitor/byte-text.ts';
import { Query } from '../monitor/query.ts';
import { goBool, goInt, goString, type GoType } from '../protocol/go-json-schema.ts';
import { embedded, field, GoStruct, type StructField } from '../protocol/go-json-struct.ts';
import { REQUEST_FILTER, type RequestFilter } from './request-filter.ts';

/** The values of options by their names in the body. */
export type Given = Record<string, unknown>;

/** What a body is read into. */
export interface PageRequest {
  given: Given;
  filter: RequestFilter;
}

export interface PageOption {
  readonly json: string;
  readonly type: GoType<unknown>;
  readonly parameter: string;
  /** The parameter's text for a value that is not empty. */
  readonly text: (value: unknown) => string;
}

export function flag(json: string, parameter: string = json): PageOption {
  return { json, type: goBool, parameter, text: () => '1' };
}

export function number(json: string, parameter: string = json): PageOption {
  // The largest there is is spelled out.
  return { json, type: goInt, parameter, text: (value) => String(goInt.toJson(value as number)) };
}

export function text(json: string, parameter: string = json): PageOption {
  return { json, type: goString, parameter, text: (value) => bytesAsText(value as string) };
}

/** `name` and `outerName`: what nats-server's types are called, which its error texts show. */
export function bodyOf(name: string, options: readonly PageOption[], outerName: string = name): GoStruct<PageRequest> {
  const fields: StructField<Given>[] = options.map(({ json, type }) => field(json, json, type));
  return new GoStruct<PageRequest>(`server.${outerName}EventOptions`, [
    ...embedded<PageRequest, 'given'>('given', new GoStruct<Given>(`server.${name}Options`, fields)),
    ...embedded<PageRequest, 'filter'>('filter', REQUEST_FILTER),
  ]);
}

/** The parameters that say what the options do. */
export function queryOf(given: Given, options: readonly PageOption[]): Query {
  const parameters = new URLSearchParams();
  for (const { json, type, parameter, text: textOf } of options) {
    const value = given[json];
    if (!type.isEmpty(value)) parameters.append(parameter, textOf(value));
  }
  return new Query(parameters.toString());
}
