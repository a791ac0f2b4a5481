// Writes dist/sbom.cdx.json, the software bill of materials in CycloneDX format: the packages that are installed with this one, and those
// whose code is bundled into its page. It is derived from the lock file, so it is the same on every machine. (`npm sbom --omit dev` would
// omit packages that development tools also need, and all that are bundled.)
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const root = join(import.meta.dirname, '..')

const names = z.record(z.string(), z.unknown()).default({})

const lockSchema = z.object({
  lockfileVersion: z.literal(3),
  /** By path: `node_modules/a`, `node_modules/a/node_modules/b`; the project itself is ''. */
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      license: z.string().optional(),
      integrity: z.string().optional(),
      dependencies: names,
      optionalDependencies: names,
      peerDependencies: names,
      hasInstallScript: z.boolean().default(false),
    }),
  ),
})

const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
  dependencies: names,
})

export type Lock = z.output<typeof lockSchema>
type Locked = Lock['packages'][string]
export type Manifest = z.output<typeof manifestSchema>

export interface Component {
  type: 'library'
  'bom-ref': string
  group?: string
  name: string
  version: string
  description?: string
  scope?: 'required'
  hashes?: Array<{ alg: string; content: string }>
  licenses: Array<{ license: { id: string } } | { expression: string }>
  purl: string
  properties?: Array<{ name: string; value: string }>
}

export interface Sbom {
  $schema: string
  bomFormat: 'CycloneDX'
  specVersion: string
  serialNumber: string
  version: 1
  metadata: { lifecycles: Array<{ phase: string }>; component: Component }
  components: Component[]
  dependencies: Array<{ ref: string; dependsOn: string[] }>
}

export function readLock(folder: string = root): Lock {
  return lockSchema.parse(JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')))
}

export function readManifest(folder: string = root): Manifest {
  return manifestSchema.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
}

/** Names of the packages that the page imports. Its build bundles their code and that of their dependencies. */
export function importedByPage(folder: string = root): string[] {
  const sources = readdirSync(join(folder, 'page/src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
  const imports = /^(?:import|export)\s(?:[^'";=()]*?\sfrom\s+)?['"]([^.'"][^'"]*)['"]/gm
  const imported = sources.flatMap((text) => Array.from(text.matchAll(imports), ([, name = '']) => packageOf(name)))
  return [...new Set(imported)].sort()
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** @param bundled names of the packages whose code is bundled into the page. */
export function sbomOf(manifest: Manifest, lock: Lock, bundled: readonly string[]): Sbom {
  const own = ownComponent(manifest)
  const installed = closureOf(lock, Object.keys(manifest.dependencies))
  const inside = closureOf(lock, bundled)
  const paths = [...new Set([...installed, ...inside])].sort()
  const components = paths.map((path) => componentOf(path, lockedAt(lock, path), !installed.has(path)))
  const refs = (from: string, needed: readonly string[]) =>
    needed.map((name) => purlAt(lock, pathOf(lock, name, from) as string)).sort()
  const content = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX' as const,
    specVersion: '1.6',
    version: 1 as const,
    metadata: { lifecycles: [{ phase: 'build' }], component: own },
    components: components.sort((a, b) => (a.purl < b.purl ? -1 : 1)),
    dependencies: [
      { ref: own.purl, dependsOn: [...new Set(refs('', [...Object.keys(manifest.dependencies), ...bundled]))].sort() },
      ...paths.map((path) => ({ ref: purlAt(lock, path), dependsOn: refs(path, neededAt(lock, path)) })),
    ].sort((a, b) => (a.ref < b.ref ? -1 : 1)),
  }
  const { $schema, bomFormat, specVersion, ...rest } = content
  return { $schema, bomFormat, specVersion, serialNumber: serialOf(JSON.stringify(content)), ...rest }
}

/** The paths of these packages and of all their dependencies. */
function closureOf(lock: Lock, names: readonly string[]): Set<string> {
  const found = new Set<string>()
  const open = names.map((name) => ({ name, from: '' }))
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const path = pathOf(lock, next.name, next.from)
    if (path === undefined) throw new Error(`${next.name} is not in the lock file. Run \`npm install\`.`)
    if (found.has(path)) continue
    found.add(path)
    for (const name of neededAt(lock, path)) open.push({ name, from: path })
  }
  return found
}

/** The dependencies of a package; optional ones and peers only if they are installed. */
function neededAt(lock: Lock, path: string): string[] {
  const { dependencies, optionalDependencies, peerDependencies } = lockedAt(lock, path)
  const optional = Object.keys({ ...optionalDependencies, ...peerDependencies })
  const installed = optional.filter((name) => pathOf(lock, name, path) !== undefined)
  const required = Object.keys(dependencies).filter((name) => !optional.includes(name))
  return [...required, ...installed]
}

/** The path to which a package at `from` resolves a name: in its own folder, or in one further up. */
function pathOf(lock: Lock, name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (Object.hasOwn(lock.packages, path)) return path
    if (folder === '') return undefined
  }
}

function lockedAt(lock: Lock, path: string): Locked {
  return lock.packages[path] as Locked
}

function purlAt(lock: Lock, path: string): string {
  return purlOf(nameAt(path), versionOf(path, lockedAt(lock, path)))
}

function nameAt(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

function versionOf(path: string, { version }: Locked): string {
  if (version === undefined) throw new Error(`${path} has no version in the lock file.`)
  return version
}

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace(/^@/, '%40')}@${version}`
}

function ownComponent({ name, version, description, license }: Manifest): Component {
  return component({ name, version, license, description })
}

function componentOf(path: string, locked: Locked, isBundled: boolean): Component {
  const { license, integrity } = locked
  if (license === undefined || integrity === undefined) {
    throw new Error(`${path} has no ${license === undefined ? 'license' : 'integrity'} in the lock file.`)
  }
  return component({
    name: nameAt(path),
    version: versionOf(path, locked),
    license,
    scope: 'required',
    hashes: hashesOf(integrity),
    ...(isBundled ? { properties: [{ name: 'cdx:npm:package:bundled', value: 'true' }] } : {}),
  })
}

type ComponentFields = Pick<Component, 'version' | 'description' | 'scope' | 'hashes' | 'properties'>

/** A component; the order of its keys is the order in the file. */
function component({ name, license, ...fields }: ComponentFields & { name: string; license: string }): Component {
  const { version, description, scope, hashes, properties } = fields
  const purl = purlOf(name, version)
  return {
    type: 'library',
    'bom-ref': purl,
    ...namesOf(name),
    version,
    ...(description === undefined ? {} : { description }),
    ...(scope === undefined ? {} : { scope }),
    ...(hashes === undefined ? {} : { hashes }),
    licenses: [licenseOf(license)],
    purl,
    ...(properties === undefined ? {} : { properties }),
  }
}

function namesOf(name: string): { group?: string; name: string } {
  const [group, rest] = name.split('/')
  return rest === undefined ? { name } : { group: group as string, name: rest }
}

function licenseOf(license: string): Component['licenses'][number] {
  return /^[\w.+-]+$/.test(license) ? { license: { id: license } } : { expression: license }
}

const algorithms: Record<string, string> = { sha1: 'SHA-1', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' }

function hashesOf(integrity: string): Array<{ alg: string; content: string }> {
  return integrity.split(/\s+/).map((each) => {
    const [algorithm = '', digest = ''] = each.split(/-(.*)/s)
    const alg = algorithms[algorithm]
    if (alg === undefined) throw new Error(`The lock file has the unknown digest ${each}.`)
    return { alg, content: Buffer.from(digest, 'base64').toString('hex') }
  })
}

/** Derived from the content, so that it is the same for an unchanged package. */
function serialOf(content: string): string {
  const digest = createHash('sha256').update(content).digest('hex')
  const variant = '89ab'.charAt(Number.parseInt(digest.charAt(16), 16) % 4)
  const parts = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ]
  return `urn:uuid:${parts.join('-')}`
}

/** Returns the path of the file. */
export function writeSbom(): string {
  const file = join(root, 'dist/sbom.cdx.json')
  mkdirSync(join(root, 'dist'), { recursive: true })
  writeFileSync(file, `${JSON.stringify(sbomOf(readManifest(), readLock(), importedByPage()), null, 2)}\n`)
  return file
}

if (import.meta.main) console.log(writeSbom())
