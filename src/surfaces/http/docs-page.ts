// Renders the OpenAPI document as a readable page: headings, tables and collapsed schemas, without scripts or external resources.
import type { OpenApiDocument } from './openapi.ts'
import type { OpenApiOperation, OpenApiParameter } from './openapi-operations.ts'

/** Blocks anything that could be injected into the page. */
export const docsPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const style = `
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid GrayText; border-radius: 0.25rem; }
table { display: block; overflow-x: auto; border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.5rem; border-bottom: 1px solid GrayText; }
article { border-top: 2px solid GrayText; margin-top: 2rem; }
h3 code { overflow-wrap: anywhere; }
`

export function docsPage(document: OpenApiDocument): string {
  const { info, tags } = document
  const sections = tags
    .map((tag) => ({ tag, operations: operationsOf(document, tag.name) }))
    .filter(({ operations }) => operations.length > 0)
  const links = sections.map(({ tag }) => `<li><a href="#${idOf(tag.name)}">${escaped(tag.name)}</a></li>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(info.title)} ${escaped(info.version)}: routes</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>${escaped(info.title)} ${escaped(info.version)}</h1>
<p>${withCode(info.description)}</p>
</header>
<nav aria-label="Groups of routes"><ul>${links.join('')}</ul></nav>
<main>
${sections.map(({ tag, operations }) => sectionOf(tag, operations, document)).join('\n')}
</main>
</body>
</html>
`
}

interface Listed {
  method: string
  path: string
  operation: OpenApiOperation
}

function operationsOf({ paths }: OpenApiDocument, tag: string): Listed[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

function sectionOf(tag: OpenApiDocument['tags'][number], operations: Listed[], document: OpenApiDocument): string {
  return `<section aria-labelledby="${idOf(tag.name)}">
<h2 id="${idOf(tag.name)}">${escaped(tag.name)}</h2>
<p>${withCode(tag.description)}</p>
${operations.map((listed) => articleOf(listed, document)).join('\n')}
</section>`
}

function articleOf({ method, path, operation }: Listed, document: OpenApiDocument): string {
  const { operationId, summary, description = '', security, parameters = [], requestBody, responses } = operation
  const access = security?.[0]?.['bearer']?.[0]
  const about = description === '' || description === summary ? '' : `<p>${withCode(description)}</p>`
  return `<article aria-labelledby="${escaped(operationId)}">
<h3 id="${escaped(operationId)}"><code>${method} ${escaped(path)}</code></h3>
<p><strong>${withCode(summary)}.</strong>${access === undefined ? '' : ` Requires the scope <code>${escaped(access)}</code>.`}</p>
${about}
${parameters.length === 0 ? '' : tableOf(parameters, operationId)}
${requestBody === undefined ? '' : schemasOf('Body', requestBody.content, document)}
${Object.entries(responses)
  .filter(([, response]) => 'content' in response)
  .map(([status, response]) => schemasOf(`Response ${status}`, response['content'] as Content, document))
  .join('\n')}
</article>`
}

function tableOf(parameters: readonly OpenApiParameter[], operationId: string): string {
  const rows = parameters.map(({ name, in: location, required = false, description, schema }) => {
    const { description: schemaText, ...rest } = schema
    const text = description ?? (typeof schemaText === 'string' ? schemaText : '')
    return `<tr><th scope="row"><code>${escaped(name)}</code></th><td>${location}${required ? ', required' : ''}</td><td>${withCode(text)} <code>${escaped(JSON.stringify(rest))}</code></td></tr>`
  })
  return `<table aria-label="Parameters of ${escaped(operationId)}">
<thead><tr><th scope="col">Parameter</th><th scope="col">Where</th><th scope="col">What</th></tr></thead>
<tbody>${rows.join('')}</tbody>
</table>`
}

type Content = Record<string, { schema: Record<string, unknown>; 'x-event-data'?: Record<string, unknown> }>

function schemasOf(label: string, content: Content, document: OpenApiDocument): string {
  return Object.entries(content)
    .map(([mediaType, { schema, 'x-event-data': data }]) => {
      const shown = resolved(data ?? schema, document)
      return `<details><summary>${escaped(label)}: <code>${escaped(mediaType)}</code></summary><pre><code>${escaped(JSON.stringify(shown, null, 2))}</code></pre></details>`
    })
    .join('\n')
}

/** Resolves a reference by one step; nested references are listed under their own names. */
function resolved(schema: Record<string, unknown>, { components }: OpenApiDocument): unknown {
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema['$ref']))?.[1]
  return name !== undefined && Object.hasOwn(components.schemas, name) ? components.schemas[name] : schema
}

/** Escapes a text and renders its code spans. */
function withCode(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

function idOf(name: string): string {
  return `tag-${escaped(name.toLowerCase())}`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] as string)
}
