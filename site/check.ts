// Opens pages of the built site in Chromium, light and dark, and fails if axe finds a fault. `node check.ts FOLDER` also takes pictures.
import { createReadStream, existsSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { installChromium } from '../scripts/install-chromium.ts'
import { linkTo } from './pages.ts'

const dist = join(import.meta.dirname, 'dist')
const pictures = process.argv[2]
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** The home, a guide with programs, wide tables, a diagram, and a page with pictures. */
const opened = [
  'README.md',
  'docs/guides/limits.md',
  'docs/reference/routes.md',
  'docs/understand/comparison.md',
  'docs/guides/page.md',
]

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  const path = pathname.endsWith('/') ? `${pathname}index` : pathname
  const file = [join(dist, path), join(dist, `${path}.html`)].find((each) => extname(each) !== '' && existsSync(each))
  if (file === undefined || !file.startsWith(dist)) {
    response.writeHead(404).end()
    return
  }
  response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' })
  createReadStream(file).pipe(response)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const browser = await chromium.launch({ executablePath: installChromium() })
const faults: string[] = []
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ colorScheme, viewport: { width: 1280, height: 900 } })
    const page = await context.newPage()
    page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`))
    for (const path of opened) {
      await page.goto(url + linkTo(path), { waitUntil: 'networkidle' })
      for (const fault of await faultsOf(page)) faults.push(`${path}, ${colorScheme}: ${fault}`)
      if (pictures !== undefined) {
        mkdirSync(pictures, { recursive: true })
        await page.screenshot({ path: join(pictures, `${linkTo(path).replaceAll('/', '-')}-${colorScheme}.png`) })
      }
    }
    await context.close()
  }
} finally {
  await browser.close()
  server.close()
}
for (const fault of faults) console.error(fault)
console.log(`${opened.length} pages, light and dark: ${faults.length === 0 ? 'no faults' : `${faults.length} faults`}`)
process.exitCode = faults.length === 0 ? 0 : 1

async function faultsOf(page: Page): Promise<string[]> {
  await page.addScriptTag({ path: axe })
  const violations = await page.evaluate(async () => {
    const { axe: run } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: Array<{ id: string; nodes: Array<{ html: string }> }> }> }
    }
    return (await run.run()).violations
  })
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`))
}
