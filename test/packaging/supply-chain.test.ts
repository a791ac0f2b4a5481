// The contents of the package, the scripts that it runs on installation, and its known vulnerabilities.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { audit, judgeAudit } from '../../scripts/audit.ts'
import { importedByPage, type Lock, readLock, readManifest, type Sbom, sbomOf, writeSbom } from '../../scripts/sbom.ts'

const root = join(import.meta.dirname, '../..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  files: string[]
  scripts: Record<string, string>
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}
const lock = readLock()
const sbom = sbomOf(readManifest(), lock, importedByPage())

const nameOf = ({ group, name }: Sbom['components'][number]) => (group === undefined ? name : `${group}/${name}`)
/** The entry of the lock file, in whichever folder npm has put the package. */
const lockedAs = (name: string, version: string) =>
  Object.entries(lock.packages).find(
    ([place, locked]) => `/${place}`.endsWith(`/node_modules/${name}`) && locked.version === version,
  )?.[1]
const isBundled = ({ properties = [] }: Sbom['components'][number]) =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:bundled' && value === 'true')

const licenseSchema = z.union([
  z.strictObject({ license: z.strictObject({ id: z.string().min(1) }) }),
  z.strictObject({ expression: z.string().min(1) }),
])

/** The fields that the specification of CycloneDX 1.6 requires, and the form of those that ours contains. */
const componentSchema = z.strictObject({
  type: z.literal('library'),
  'bom-ref': z.string().min(1),
  group: z.string().min(1).optional(),
  name: z.string().min(1),
  version: z.string().min(1),
  description: z.string().optional(),
  scope: z.enum(['required', 'optional', 'excluded']).optional(),
  hashes: z
    .array(
      z.strictObject({
        alg: z.enum(['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']),
        content: z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/),
      }),
    )
    .optional(),
  licenses: z.array(licenseSchema).min(1),
  purl: z.string().regex(/^pkg:npm\/(?:%40[\w.-]+\/)?[\w.-]+@[\w.+-]+$/),
  properties: z.array(z.strictObject({ name: z.string(), value: z.string() })).optional(),
})
const sbomSchema = z.strictObject({
  $schema: z.literal('http://cyclonedx.org/schema/bom-1.6.schema.json'),
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.literal('1.6'),
  serialNumber: z.string().regex(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  version: z.int().min(1),
  metadata: z.strictObject({
    lifecycles: z.array(z.strictObject({ phase: z.enum(['design', 'pre-build', 'build', 'post-build']) })),
    component: componentSchema,
  }),
  components: z.array(componentSchema),
  dependencies: z.array(z.strictObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
})

describe('the SBOM', () => {
  it('the SBOM contains all packages that npm installs with the package, and no development packages', () => {
    const raw = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: boolean; version: string }>
    }
    const installed = Object.entries(raw.packages).filter(([place, { dev }]) => place !== '' && !dev)
    expect(
      sbom.components
        .filter((each) => !isBundled(each))
        .map((each) => `${nameOf(each)} ${each.version}`)
        .sort(),
    ).toEqual(installed.map(([place, { version }]) => `${place.replace(/^.*node_modules\//, '')} ${version}`).sort())
  })

  it('the SBOM contains and marks the packages that are bundled into its page', () => {
    const bundled = sbom.components.filter(isBundled).map(nameOf)
    expect(bundled).toEqual(expect.arrayContaining(['preact', '@preact/signals', '@preact/signals-core', 'uplot']))
    expect(bundled).toEqual(expect.arrayContaining(importedByPage()))
    expect(importedByPage()).not.toContain('vite')
  })

  it('the SBOM has version, license and npm digest of each package', () => {
    for (const { version, purl, licenses, hashes, ...each } of sbom.components) {
      const name = nameOf({ version, purl, licenses, ...each })
      const locked = lockedAs(name, version)
      expect([name, locked]).not.toEqual([name, undefined])
      expect(purl).toBe(`pkg:npm/${name.replace('@', '%40')}@${version}`)
      expect(licenses).toEqual([{ license: { id: locked?.license } }])
      const digest = Buffer.from(hashes?.[0]?.content ?? '', 'hex').toString('base64')
      expect(`sha512-${digest}`).toBe(locked?.integrity)
    }
  })

  it('the bill of materials has the required fields of CycloneDX 1.6', () => {
    expect(z.prettifyError(sbomSchema.safeParse(sbom).error ?? new z.ZodError([]))).toBe('')
    const { purl: _purl, ...withoutPurl } = sbom.metadata.component
    const faulty = { ...sbom, metadata: { ...sbom.metadata, component: withoutPurl } }
    expect(sbomSchema.safeParse(faulty).success).toBe(false)
  })

  it('each reference of the SBOM is a component, each component is unique, and some component needs it', () => {
    const own = sbom.metadata.component['bom-ref']
    const refs = sbom.components.map((each) => each['bom-ref'])
    expect(new Set(refs).size).toBe(refs.length)
    expect(sbom.dependencies.map(({ ref }) => ref).sort()).toEqual([own, ...refs].sort())
    const needed = new Set(sbom.dependencies.flatMap(({ dependsOn }) => dependsOn))
    expect([...needed].sort()).toEqual([...refs].sort())
  })

  it('the SBOM is the same for the same packages, and differs for others', () => {
    expect(sbomOf(readManifest(), readLock(), importedByPage())).toEqual(sbom)
    expect(sbomOf(readManifest(), lock, []).serialNumber).not.toBe(sbom.serialNumber)
  })

  it('the SBOM is in dist, and so in the package', () => {
    expect(JSON.parse(readFileSync(writeSbom(), 'utf8'))).toEqual(sbom)
    expect(manifest.files).toContain('dist')
    expect(manifest.files).not.toContain('!dist/sbom.cdx.json')
  })

  it('the SBOM resolves a package in the folder of its dependent before the common one', () => {
    const made = (version: string, dependencies = {}) => {
      const rest = { optionalDependencies: {}, peerDependencies: {}, hasInstallScript: false }
      return { version, license: 'MIT', integrity: 'sha512-AA==', dependencies, ...rest }
    }
    const nested: Lock = {
      lockfileVersion: 3,
      packages: {
        'node_modules/a': made('1.0.0', { b: '^2' }),
        'node_modules/a/node_modules/b': made('2.0.0'),
        'node_modules/b': made('1.0.0'),
      },
    }
    const own = { name: 'x', version: '1.0.0', description: '', license: 'MIT', dependencies: { a: '1.0.0' } }
    expect(sbomOf(own, nested, []).components.map(({ purl }) => purl)).toEqual(['pkg:npm/a@1.0.0', 'pkg:npm/b@2.0.0'])
    delete nested.packages['node_modules/a/node_modules/b']
    delete nested.packages['node_modules/b']
    expect(() => sbomOf(own, nested, [])).toThrow('b is not in the lock file')
  })
})

describe('the package', () => {
  it('the package runs no scripts when it is installed, and neither do its dependencies', () => {
    const atInstall = ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare']
    expect(Object.keys(manifest.scripts).filter((name) => atInstall.includes(name))).toEqual([])
    const scripted = sbom.components
      .filter((each) => lockedAs(nameOf(each), each.version)?.hasInstallScript)
      .map(nameOf)
    expect(scripted).toEqual([])
  })

  it('the package pins each dependency to one version, and the lock file to its digest', () => {
    const versions = Object.values({ ...manifest.dependencies, ...manifest.devDependencies })
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([])
    const loose = Object.entries(lock.packages).filter(([place, { integrity }]) => place !== '' && !integrity)
    expect(loose).toEqual([])
  })

  it('the package contains its security policy', () => {
    expect(manifest.files).toContain('SECURITY.md')
  })
})

/** A registry with configured answers. */
async function registry(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** A project with one dependency. */
function project(): string {
  const folder = mkdtempSync(join(tmpdir(), 'errand-audit-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const own = { name: 'x', version: '1.0.0', dependencies: { leaky: '1.0.0' } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(own))
  const packages = { '': own, 'node_modules/leaky': { version: '1.0.0', integrity: 'sha512-AA==' } }
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ name: 'x', version: '1.0.0', lockfileVersion: 3, requires: true, packages }),
  )
  return folder
}

/** Answers like the registry of npm. npm caches advisories by number and does not request them again. */
function knowing(severity: string | undefined): RequestListener {
  return (request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url?.endsWith('/advisories/bulk')) {
      const advisory = {
        id: severity === 'high' ? 1 : 2,
        url: 'https://example.org/1',
        title: 'It leaks',
        severity,
        vulnerable_versions: '<1.0.1',
      }
      response.end(JSON.stringify(severity === undefined ? {} : { leaky: [advisory] }))
    } else {
      const versions = { '1.0.0': { name: 'leaky', version: '1.0.0' }, '1.0.1': { name: 'leaky', version: '1.0.1' } }
      response.end(JSON.stringify({ name: 'leaky', 'dist-tags': { latest: '1.0.1' }, versions }))
    }
  }
}

describe('scripts/audit', () => {
  it('scripts/audit fails for a package with a known severe vulnerability, and names it', async () => {
    const found = await audit({ folder: project(), registry: await registry(knowing('high')) })
    expect(found).toEqual({ vulnerable: true, message: expect.stringMatching(/^leaky \S+: high$/) })
  })

  it('scripts/audit passes without a severe vulnerability, and lists the others', async () => {
    const clean = await audit({ folder: project(), registry: await registry(knowing(undefined)) })
    expect(clean.vulnerable).toBe(false)
    const lesser = await audit({ folder: project(), registry: await registry(knowing('moderate')) })
    expect(lesser.vulnerable).toBe(false)
    expect(lesser.message).toContain('0 low, 1 moderate')
  })

  it('scripts/audit reports that nothing was audited when the registry refuses, is missing, or does not answer', async () => {
    const refusing = await registry((_request, response) => response.writeHead(405).end())
    expect(await audit({ folder: project(), registry: refusing })).toEqual({
      vulnerable: null,
      message: expect.stringContaining('Not audited: the registry gave no answer (405 Method Not Allowed).'),
    })
    const absent = await audit({ folder: project(), registry: 'http://127.0.0.1:9/' })
    expect(absent).toMatchObject({ vulnerable: null, message: expect.stringContaining('ECONNREFUSED') })
    const silent = await registry(() => {})
    expect(await audit({ folder: project(), registry: silent, withinMs: 3_000 })).toMatchObject({ vulnerable: null })
  })

  it('scripts/audit accepts only a valid report as clean', () => {
    for (const report of ['', '{}', 'null', '{"vulnerabilities":{}}', 'npm is not there']) {
      expect([report, judgeAudit(report).vulnerable]).toEqual([report, null])
    }
  })
})
