// The documents as a site, from the files as they are in the repository.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig, type Plugin } from 'vitepress'
import { anchorOf, linkTo, others, type Page, pages, parts, placeOf, resolvedLink, root } from '../pages.ts'

const description = 'An embeddable TypeScript engine for the long-running tasks of AI agents.'

export default defineConfig({
  title: 'errand',
  description,
  srcDir: '..',
  outDir: './dist',
  cacheDir: './node_modules/.cache',
  srcExclude: ['**/node_modules/**', '{bench,dist,examples,page,scripts,site,src,test}/**', 'docs/images/**'],
  rewrites: Object.fromEntries(pages.map(({ path }) => [path, placeOf(path)])),
  cleanUrls: true,
  vite: { plugins: [vueOfTheSite()] },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: parts.map(({ title, pages: listed }) => ({
      text: title,
      link: linkTo((listed.find(({ path }) => path.startsWith('docs/')) ?? listed[0])?.path ?? ''),
      activeMatch: `^/${title.toLowerCase()}/`,
    })),
    sidebar: {
      ...Object.fromEntries(parts.map((part) => [`/${part.title.toLowerCase()}/`, [groupOf(part.title, part.pages)]])),
      '/': [
        ...parts
          .filter(({ title }) => title !== 'Guides' && title !== 'Reference')
          .map((part) => groupOf(part.title, part.pages)),
        groupOf('Decisions and changes', others),
      ],
    },
  },
  transformPageData({ relativePath, frontmatter }) {
    // Their tables need the width.
    if (/^reference\/|comparison/.test(relativePath)) frontmatter['aside'] = false
  },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: anchorOf },
    config(md) {
      // Before the links of VitePress are made, which it checks.
      md.core.ruler.push('repository-links', ({ tokens, env }) => {
        for (const inline of tokens) {
          const closing: boolean[] = []
          for (const token of inline.children ?? []) {
            if (token.type === 'link_open') closing.push(relink(token, env.relativePath))
            else if (token.type === 'link_close' && closing.pop() === false) token.hidden = true
          }
          inline.children = inline.children?.filter(({ hidden, type }) => !(hidden && type.startsWith('link_'))) ?? null
        }
      })
      const fence = md.renderer.rules.fence
      md.renderer.rules.fence = (tokens, index, ...rest) => {
        const { info, content } = tokens[index]!
        if (info.trim() !== 'mermaid') return fence!(tokens, index, ...rest)
        return `<MermaidDiagram code="${encodeURIComponent(content)}" />`
      }
    },
  },
  buildEnd({ outDir }) {
    const links = (text: string) =>
      text.replaceAll(/\]\((?:docs\/)?([^)\s]+\.md)\)/g, (_, path) => `](/${placeOf(path)})`)
    writeFileSync(join(outDir, 'llms.txt'), links(readFileSync(join(root, 'llms.txt'), 'utf8')))
    const listed = parts.flatMap((part) => part.pages)
    const texts = listed.map(({ path }) => readFileSync(join(root, path), 'utf8').trim())
    writeFileSync(join(outDir, 'llms-full.txt'), `${texts.join('\n\n')}\n`)
    for (const { path } of listed) {
      const copy = join(outDir, placeOf(path))
      mkdirSync(dirname(copy), { recursive: true })
      copyFileSync(join(root, path), copy)
    }
  },
})

function groupOf(text: string, listed: readonly Page[]) {
  return { text, items: listed.map(({ title, path }) => ({ text: title, link: linkTo(path) })) }
}

/** The pages lie outside of this folder, from where Vue would not be found. */
function vueOfTheSite(): Plugin {
  return {
    name: 'vue-of-the-site',
    enforce: 'pre',
    resolveId(source, _importer, options) {
      if (!/^vue(?:\/|$)/.test(source)) return null
      if (options.ssr === true) return { id: source, external: true }
      return this.resolve(source, join(import.meta.dirname, 'config.ts'), { ...options, skipSelf: true })
    },
  }
}

/** Points a link to its page on the site. A file that is not on it keeps its text only: returns false then. */
function relink(
  token: { attrGet(name: string): string | null; attrSet(name: string, value: string): void; hidden: boolean },
  place: string,
): boolean {
  const href = token.attrGet('href') ?? ''
  if (/^[a-z]+:/.test(href)) return true
  const from = pages.find(({ path }) => placeOf(path) === place)?.path ?? place
  const to = resolvedLink(from, href)
  if (to === undefined) token.hidden = true
  else token.attrSet('href', to)
  return to !== undefined
}
