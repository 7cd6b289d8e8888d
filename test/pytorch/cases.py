# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules as people write them, with losses and batches: what an import must get right.

Each case is a function that gives (module, loss_fn, inputs, targets). The traps are
those that a study of 111 PyTorch models found.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def labels(*shape, classes):
    return torch.randint(0, classes, shape)


class Of(nn.Module):
    """A module of a function of its parts."""

    def __init__(self, function, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)
        self.function = function

    def forward(self, *args):
        return self.function(self, *args)


def mlp(*sizes, act=nn.ReLU, last=False):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers[:None if last else -1])


# Plain networks

@case
def mlp_classifier():
    return mlp(12, 16, 16, 5), F.cross_entropy, [torch.randn(8, 12)], [labels(8, classes=5)]


@case
def mlp_batch_norm():
    net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    return net, F.cross_entropy, [torch.randn(8, 6)], [labels(8, classes=3)]


@case
def batch_norm_twice():
    """One module at two places: its statistics move twice."""
    return Of(lambda s, x: s.bn(F.relu(s.fc(s.bn(x)))).sum(1), bn=nn.BatchNorm1d(6),
              fc=nn.Linear(6, 6)), F.mse_loss, [torch.randn(8, 6)], [torch.randn(8)]


@case
def batch_norm_of_images():
    net = nn.Sequential(nn.BatchNorm2d(3), nn.Flatten(), nn.Linear(3 * 4 * 4, 2))
    return net, F.cross_entropy, [torch.randn(4, 3, 4, 4)], [labels(4, classes=2)]


@case
def residual_mlp():
    return Of(lambda s, x: s.out(x + s.b(F.gelu(s.a(s.norm(x))))), norm=nn.LayerNorm(8),
              a=nn.Linear(8, 16), b=nn.Linear(16, 8), out=nn.Linear(8, 1)), \
        F.mse_loss, [torch.randn(6, 8)], [torch.randn(6, 1)]


@case
def mixer():
    def forward(s, x):
        x = x + s.tokens(s.n1(x).transpose(1, 2)).transpose(1, 2)
        x = x + s.channels(s.n2(x))
        return s.head(x.mean(dim=1))
    return Of(forward, n1=nn.LayerNorm(8), n2=nn.LayerNorm(8),
              tokens=mlp(5, 10, 5, act=nn.GELU), channels=mlp(8, 16, 8, act=nn.GELU),
              head=nn.Linear(8, 3)), F.cross_entropy, [torch.randn(4, 5, 8)], \
        [labels(4, classes=3)]


@case
def autoencoder():
    return mlp(10, 6, 3, 6, 10, act=nn.Tanh), F.mse_loss, [torch.rand(7, 10)], \
        [torch.rand(7, 10)]


@case
def vae_given_noise():
    def forward(s, x, noise):
        mean, log_var = s.encode(x).chunk(2, dim=1)
        z = mean + noise * torch.exp(0.5 * log_var)
        return s.decode(z), mean, log_var

    def loss(out, x):
        y, mean, log_var = out
        kl = -0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp())
        return F.binary_cross_entropy_with_logits(y, x, reduction="sum") + kl
    x = torch.rand(5, 12)
    return Of(forward, encode=mlp(12, 8, 6), decode=mlp(3, 8, 12)), loss, \
        [x, torch.randn(5, 3)], [x]


@case
def dlrm():
    def forward(s, dense, sparse):
        rows = [s.bottom(dense)] + [table(sparse[:, i]) for i, table in enumerate(s.tables)]
        stacked = torch.stack(rows, dim=1)
        products = torch.bmm(stacked, stacked.transpose(1, 2))
        i, j = torch.tril_indices(4, 4, offset=-1)
        return s.top(torch.cat([rows[0], products[:, i, j]], dim=1)).squeeze(1)
    return Of(forward, bottom=mlp(6, 8, 4, last=True),
              tables=nn.ModuleList(nn.Embedding(n, 4) for n in (7, 5, 3)),
              top=mlp(10, 8, 1)), F.binary_cross_entropy_with_logits, \
        [torch.randn(6, 6), torch.stack([labels(6, classes=n) for n in (7, 5, 3)], 1)], \
        [torch.rand(6)]


@case
def nerf():
    def forward(s, x):
        bands = 2.0 ** torch.arange(4, dtype=torch.float32, device=x.device) * math.pi
        spread = (x[..., None] * bands).flatten(-2)
        h = s.trunk(torch.cat([x, spread.sin(), spread.cos()], dim=-1))
        return torch.cat([torch.sigmoid(s.color(h)), F.softplus(s.density(h))], dim=-1)
    return Of(forward, trunk=mlp(27, 16, 16), color=nn.Linear(16, 3),
              density=nn.Linear(16, 1)), F.mse_loss, [torch.rand(9, 3)], [torch.rand(9, 4)]


@case
def gated_mixture():
    def forward(s, x):
        weights = torch.softmax(s.gate(x), dim=-1)
        outs = torch.stack([expert(x) for expert in s.experts], dim=1)
        return torch.einsum("be,bed->bd", weights, outs)
    return Of(forward, gate=nn.Linear(6, 3),
              experts=nn.ModuleList(mlp(6, 8, 4) for _ in range(3))), \
        F.smooth_l1_loss, [torch.randn(5, 6)], [torch.randn(5, 4)]


@case
def film():
    def forward(s, x, c):
        scale, shift = s.film(c).chunk(2, dim=-1)
        return s.out(F.silu(s.fc(x) * (1 + scale) + shift))
    return Of(forward, fc=nn.Linear(5, 8), film=nn.Linear(3, 16), out=nn.Linear(8, 2)), \
        F.huber_loss, [torch.randn(6, 5), torch.randn(6, 3)], [torch.randn(6, 2)]


@case
def hypernetwork():
    def forward(s, x, c):
        weight = s.net(c).view(-1, 4, 5)
        return torch.bmm(weight, x.unsqueeze(-1)).squeeze(-1)
    return Of(forward, net=mlp(3, 8, 20)), F.l1_loss, \
        [torch.randn(6, 5), torch.randn(6, 3)], [torch.randn(6, 4)]


@case
def every_activation():
    kinds = [nn.ELU(), nn.SELU(), nn.LeakyReLU(0.2), nn.Mish(), nn.Hardswish(), nn.GELU("tanh"),
             nn.Hardtanh(), nn.Softplus(), nn.LogSigmoid(), nn.Softsign(), nn.SiLU(), nn.ReLU6(),
             nn.PReLU(), nn.PReLU(8), nn.Hardsigmoid(), nn.CELU(0.5), nn.Tanhshrink(),
             nn.Threshold(0.1, 0.2), nn.Hardshrink(), nn.Softshrink()]

    def forward(s, x):
        return 0.1 * sum(kind(s.fc(x)) for kind in s.kinds)
    return Of(forward, fc=nn.Linear(6, 8), kinds=nn.ModuleList(kinds)), F.mse_loss, \
        [torch.randn(5, 6)], [torch.randn(5, 8)]


@case
def glu():
    return nn.Sequential(nn.Linear(6, 8), nn.GLU(), nn.Linear(4, 3)), F.mse_loss, \
        [torch.randn(5, 6)], [torch.randn(5, 3)]


@case
def functions_of_elements():
    def forward(s, x):
        y = torch.tanh(s.fc(x))
        p = torch.exp(-y.abs()) + 0.5
        return 0.02 * (torch.log(p) + torch.log1p(p) + torch.expm1(-p) + p.sqrt() + p.rsqrt()
                + p ** 3 + p ** -0.5 + 2.0 ** y + p ** y + torch.sin(y) * torch.cos(y)
                + torch.reciprocal(p) + y.clamp(-0.5, 0.5) + y.clamp(min=0.1)
                + torch.maximum(y, p) + torch.minimum(y, p) + y.sign() * y + y / (p + 1)
                + torch.log2(p) + 1 / p + (1 - p) + torch.where(y > 0, y, 2 * y)
                + torch.addcmul(y, p, y, value=0.5) + torch.lerp(y, p, 0.3)
                + torch.logaddexp(y, p) + torch.square(y) + y.floor() + y.round()
                + torch.erf(y) - torch.erfc(p))
    return Of(forward, fc=nn.Linear(4, 6)), F.mse_loss, [torch.randn(5, 4)], \
        [torch.randn(5, 6)]


# Norms, reductions

@case
def norms():
    def forward(s, x):
        return s.group(s.fc(x).unsqueeze(-1)).squeeze(-1) + s.rms(s.fc(x)) \
            + s.plain(s.fc(x)) + F.normalize(s.fc(x), dim=1)
    return Of(forward, fc=nn.Linear(5, 8), group=nn.GroupNorm(2, 8), rms=nn.RMSNorm(8),
              plain=nn.LayerNorm(8, elementwise_affine=False)), F.mse_loss, \
        [torch.randn(6, 5)], [torch.randn(6, 8)]


@case
def reductions():
    def forward(s, x):
        y = s.fc(x)
        return 0.02 * (y.sum(1) + y.mean((0, 1)) + y.var(1) + y.std(1) + y.logsumexp(1)
                + y.norm(dim=1) + y.amax(1) + y.max(dim=1).values + y.min(dim=1)[0]
                + y.max() + y.sum() + y.cumsum(1)[:, -1] + y.norm() + y.abs().mean())
    return Of(forward, fc=nn.Linear(5, 7)), F.mse_loss, [torch.randn(4, 5)], [torch.randn(4)]


@case
def ties_of_amax():
    """PyTorch shares the gradient of amax among equal elements."""
    return Of(lambda s, x: F.relu(s.fc(x)).amax(dim=1) + F.relu(s.fc(x) - 9).amax(dim=0).sum(),
              fc=nn.Linear(5, 7)), F.mse_loss, [torch.randn(4, 5)], [torch.randn(4)]


@case
def views():
    def forward(s, x):
        y = s.fc(x).view(4, 3, 2, 2)
        a, b = y.split([1, 2], dim=1)
        z = torch.cat([b.permute(0, 2, 3, 1).reshape(4, -1), a.flatten(1)], dim=1)
        z = z[:, ::2] + z[:, 1::2] + z[:, :6].flip(1) + torch.roll(z[:, 3:9], 2, dims=1)
        w = z.unsqueeze(1).expand(-1, 2, -1).repeat(1, 1, 2)[..., 3]
        u = torch.stack(y.unbind(1), dim=-1).movedim(-1, 0)[0].swapaxes(1, 2).flatten(1)
        return w.sum(1, keepdim=True) + F.pad(u, (1, 1), value=0.5) \
            + F.pad(u, (2, 0)) + y.select(1, -1).narrow(1, 0, 1).squeeze(1).repeat_interleave(
                3, dim=1)
    return Of(forward, fc=nn.Linear(5, 12)), F.mse_loss, [torch.randn(4, 5)], \
        [torch.randn(4, 6)]


# Attention

@case
def attention_by_hand():
    def forward(s, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, C // 2).transpose(1, 2) for t in s.qkv(x).split(C, dim=2))
        scores = q @ k.transpose(-2, -1) / math.sqrt(C // 2)
        mask = torch.tril(torch.ones(T, T, device=x.device)) == 0
        weights = scores.masked_fill(mask, float("-inf")).softmax(-1)
        return s.out((weights @ v).transpose(1, 2).contiguous().view(B, T, C))
    return Of(forward, qkv=nn.Linear(8, 24), out=nn.Linear(8, 8)), F.mse_loss, \
        [torch.randn(2, 5, 8)], [torch.randn(2, 5, 8)]


@case
def attention_by_einsum():
    def forward(s, x):
        q, k, v = s.q(x), s.k(x), s.v(x)
        weights = torch.einsum("bqd,bkd->bqk", q, k).mul(0.3).softmax(dim=-1)
        return torch.einsum("bqk,bkd->bqd", weights, v)
    return Of(forward, q=nn.Linear(6, 4), k=nn.Linear(6, 4), v=nn.Linear(6, 4)), \
        F.mse_loss, [torch.randn(3, 5, 6)], [torch.randn(3, 5, 4)]


def sdpa_of(**options):
    def forward(s, x, *mask):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, C // 2).transpose(1, 2) for t in s.qkv(x).chunk(3, -1))
        if mask:
            options["attn_mask"] = mask[0]
        y = F.scaled_dot_product_attention(q, k, v, **options)
        return s.out(y.transpose(1, 2).reshape(B, T, C))
    return Of(forward, qkv=nn.Linear(8, 24), out=nn.Linear(8, 8))


@case
def sdpa_causal():
    return sdpa_of(is_causal=True), F.mse_loss, [torch.randn(2, 5, 8)], [torch.randn(2, 5, 8)]


@case
def sdpa_scaled():
    return sdpa_of(scale=0.2), F.mse_loss, [torch.randn(2, 5, 8)], [torch.randn(2, 5, 8)]


@case
def sdpa_bool_mask():
    mask = torch.rand(2, 1, 5, 5) > 0.4
    mask[0, 0, 2] = False  # a row of which nothing counts
    return sdpa_of(), F.mse_loss, [torch.randn(2, 5, 8), mask], [torch.randn(2, 5, 8)]


@case
def sdpa_float_mask():
    return sdpa_of(), F.mse_loss, [torch.randn(2, 5, 8), torch.randn(1, 2, 5, 5)], \
        [torch.randn(2, 5, 8)]


@case
def multihead_attention():
    return Of(lambda s, x: s.attn(x, x, x, need_weights=False)[0],
              attn=nn.MultiheadAttention(8, 2, batch_first=True)), F.mse_loss, \
        [torch.randn(3, 4, 8)], [torch.randn(3, 4, 8)]


@case
def transformer_encoder():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), F.mse_loss, \
        [torch.randn(3, 4, 8)], [torch.randn(3, 4, 8)]


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = mlp(width, 4 * width, width, act=nn.GELU)
        self.heads = heads

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(self.ln_1(x)).split(C, dim=2)
        q, k, v = (t.view(B, T, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))
        return x + self.mlp(self.ln_2(x))


class NanoGPT(nn.Module):
    """Token and head share one weight."""

    def __init__(self, vocabulary=11, block=6, width=8, heads=2, layers=2):
        super().__init__()
        self.transformer = nn.ModuleDict(dict(
            wte=nn.Embedding(vocabulary, width), wpe=nn.Embedding(block, width),
            h=nn.ModuleList(Block(width, heads) for _ in range(layers)),
            ln_f=nn.LayerNorm(width)))
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        self.transformer.wte.weight = self.lm_head.weight

    def forward(self, idx):
        pos = torch.arange(0, idx.size(1), dtype=torch.long, device=idx.device)
        x = self.transformer.wte(idx) + self.transformer.wpe(pos)
        for block in self.transformer.h:
            x = block(x)
        return self.lm_head(self.transformer.ln_f(x))


def of_tokens(logits, target):
    return F.cross_entropy(logits.view(-1, logits.size(-1)), target.view(-1),
                           ignore_index=-1)


@case
def nanogpt():
    tokens = labels(3, 6, classes=11)
    return NanoGPT(), of_tokens, [tokens], [labels(3, 6, classes=11)]


class Llama(nn.Module):
    """Rotary positions, RMSNorm, SwiGLU, fewer heads of keys."""

    def __init__(self, width=8, heads=2, vocabulary=9):
        super().__init__()
        self.embed, self.heads = nn.Embedding(vocabulary, width), heads
        self.q, self.o = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.kv = nn.Linear(width, width, bias=False)  # one head of keys, one of values
        self.n1, self.n2 = nn.RMSNorm(width, eps=1e-5), nn.RMSNorm(width, eps=1e-5)
        self.gate, self.up = nn.Linear(width, 12, bias=False), nn.Linear(width, 12, bias=False)
        self.down = nn.Linear(12, width, bias=False)
        self.head = nn.Linear(width, vocabulary, bias=False)
        half = width // heads
        angles = torch.outer(torch.arange(6).float(),
                             10000 ** (-torch.arange(0, half, 2).float() / half))
        self.register_buffer("cos", torch.cat([angles, angles], -1).cos(), persistent=False)
        self.register_buffer("sin", torch.cat([angles, angles], -1).sin(), persistent=False)

    def rotate(self, x):
        a, b = x.chunk(2, dim=-1)
        return x * self.cos[:x.size(-2)] + torch.cat([-b, a], -1) * self.sin[:x.size(-2)]

    def forward(self, tokens):
        x = self.embed(tokens)
        B, T, C = x.shape
        h = self.n1(x)
        q = self.q(h).view(B, T, self.heads, -1).transpose(1, 2)
        k, v = (t.view(B, T, 1, -1).transpose(1, 2) for t in self.kv(h).chunk(2, -1))
        y = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True,
                                           enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(B, T, C))
        h = self.n2(x)
        x = x + self.down(F.silu(self.gate(h)) * self.up(h))
        return self.head(x).float()


@case
def llama():
    return Llama(), of_tokens, [labels(3, 5, classes=9)], [labels(3, 5, classes=9)]


class ViT(nn.Module):
    """Patches are a convolution whose stride is its kernel."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 8, kernel_size=4, stride=4)
        self.token = nn.Parameter(torch.zeros(1, 1, 8))
        self.position = nn.Parameter(torch.randn(1, 5, 8) * 0.02)
        self.block, self.head = Block(8, 2), nn.Linear(8, 3)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.size(0), -1, -1), x], dim=1) + self.position
        return self.head(self.block(x)[:, 0])


@case
def vit():
    return ViT(), F.cross_entropy, [torch.randn(2, 3, 8, 8)], [labels(2, classes=3)]


@case
def conv_with_a_rest():
    net = nn.Sequential(nn.Conv1d(2, 4, 3, stride=3), nn.Flatten(), nn.Linear(12, 2))
    return net, F.mse_loss, [torch.randn(3, 2, 11)], [torch.randn(3, 2)]


# Traps

@case
def simsiam_detach():
    def forward(s, a, b):
        za, zb = s.encoder(a), s.encoder(b)
        return s.predictor(za), s.predictor(zb), za.detach(), zb.detach()

    def loss(out):
        pa, pb, za, zb = out
        return -(F.cosine_similarity(pa, zb, dim=-1).mean()
                 + F.cosine_similarity(pb, za, dim=-1).mean()) / 2
    return Of(forward, encoder=mlp(6, 8, 4), predictor=mlp(4, 6, 4)), loss, \
        [torch.randn(5, 6), torch.randn(5, 6)], []


@case
def simsiam_no_grad():
    def forward(s, a, b):
        with torch.no_grad():
            za, zb = s.encoder(a), s.encoder(b)
        return F.mse_loss(s.predictor(s.encoder(a)), zb) + F.mse_loss(
            s.predictor(s.encoder(b)), za)
    return Of(forward, encoder=mlp(6, 8, 4), predictor=mlp(4, 6, 4)), lambda out: out, \
        [torch.randn(5, 6), torch.randn(5, 6)], []


@case
def enable_grad_in_no_grad():
    def forward(s, x):
        with torch.no_grad():
            y = s.a(x)
            with torch.enable_grad():
                y = s.b(y)
        return y + s.a(x)
    return Of(forward, a=nn.Linear(6, 6), b=nn.Linear(6, 6)), F.mse_loss, \
        [torch.randn(5, 6)], [torch.randn(5, 6)]


@case
def straight_through():
    def forward(s, x):
        soft = torch.sigmoid(s.a(x))
        hard = (soft > 0.5).float()
        return s.b(hard + soft - soft.detach())
    return Of(forward, a=nn.Linear(6, 8), b=nn.Linear(8, 2)), F.mse_loss, \
        [torch.randn(5, 6)], [torch.randn(5, 2)]


@case
def distillation():
    def forward(s, x):
        with torch.no_grad():
            teacher = s.teacher(x)
        return s.student(x), teacher

    def loss(out, target):
        student, teacher = out
        return 0.5 * F.cross_entropy(student, target) + 0.5 * 4 * F.kl_div(
            F.log_softmax(student / 2, 1), F.softmax(teacher / 2, 1), reduction="batchmean")
    return Of(forward, student=mlp(6, 8, 4), teacher=mlp(6, 8, 4)), loss, \
        [torch.randn(5, 6)], [labels(5, classes=4)]


@case
def linear_probe():
    net = Of(lambda s, x: s.head(s.body(x)), body=mlp(6, 8, 8), head=nn.Linear(8, 3))
    net.body.requires_grad_(False)
    return net, F.cross_entropy, [torch.randn(5, 6)], [labels(5, classes=3)]


@case
def unused_parameters():
    return Of(lambda s, x: s.used(x), used=nn.Linear(6, 3), spare=nn.Linear(6, 3)), \
        F.cross_entropy, [torch.randn(5, 6)], [labels(5, classes=3)]


class Ema(nn.Module):
    """A buffer that moves, and is read after it has moved."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("count", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        y = self.fc(x)
        with torch.no_grad():
            self.mean.mul_(0.9).add_(y.mean(0), alpha=0.1)
            self.count += 1
        return y - self.mean


@case
def buffer_read_after_its_change():
    return Ema(), F.mse_loss, [torch.randn(5, 6)], [torch.randn(5, 4)]


@case
def in_place():
    def forward(s, x):
        y = s.a(x)
        y += 1
        y[:, :2] = y[:, :2] * 2
        y[:, 3] = 0.5
        return s.b(y.mul_(0.5))
    return Of(forward, a=nn.Linear(6, 8), b=nn.Linear(8, 2)), F.mse_loss, \
        [torch.randn(5, 6)], [torch.randn(5, 2)]


@case
def constants_in_the_loss():
    scale, weights = torch.tensor(0.5), torch.tensor([1.0, 2.0, 3.0])

    def loss(y, target):
        return ((y - target) ** 2 * weights).mean() * scale + torch.tensor([1.0, 2.0]).sum()
    return nn.Linear(6, 3), loss, [torch.randn(5, 6)], [torch.randn(5, 3)]


@case
def outputs_in_a_dict():
    def forward(s, x):
        h = s.body(x)
        return {"a": s.a(h), "b": s.b(h), "again": h, "x": x, "n": 3}

    def loss(out, target):
        return F.mse_loss(out["a"], target) + out["b"].square().mean() * out["n"] \
            + (out["again"] * 0.1).sum() + out["x"].mean()
    return Of(forward, body=nn.Linear(6, 4), a=nn.Linear(4, 2), b=nn.Linear(4, 2)), loss, \
        [torch.randn(5, 6)], [torch.randn(5, 2)]


@case
def conv1d_of_gpt2():
    """Hugging Face's Conv1D: addmm with a weight of [in, out]."""
    def forward(s, x):
        y = torch.addmm(s.bias, x.view(-1, x.size(-1)), s.weight)
        return y.view(*x.size()[:-1], -1)
    return Of(forward, weight=nn.Parameter(torch.randn(6, 4) * 0.1),
              bias=nn.Parameter(torch.zeros(4))), F.mse_loss, [torch.randn(3, 5, 6)], \
        [torch.randn(3, 5, 4)]


@case
def lora():
    def forward(s, x):
        return s.fc(x) + x @ s.a.T @ s.b.T * 2.0 + F.linear(x, s.c.t())
    net = Of(forward, fc=nn.Linear(6, 4), a=nn.Parameter(torch.randn(2, 6)),
             b=nn.Parameter(torch.randn(4, 2)), c=nn.Parameter(torch.randn(6, 4)))
    net.fc.requires_grad_(False)
    return net, F.mse_loss, [torch.randn(5, 6)], [torch.randn(5, 4)]


@case
def lookups():
    def forward(s, x, index):
        y = F.log_softmax(s.fc(x), dim=1)
        rows = torch.arange(x.size(0), device=x.device)
        return (-y[rows, index] - y.gather(1, index.unsqueeze(1)).squeeze(1)
                + s.table[index].sum(1) + F.embedding(index, s.table, padding_idx=1).sum(1)
                + (F.one_hot(index, 4).float() * y).sum(1)
                + s.table[torch.tensor([0, -1])].sum() + y.index_select(1, index[:2]).sum(1))
    return Of(forward, fc=nn.Linear(6, 4), table=nn.Parameter(torch.randn(4, 3))), \
        lambda out: out.mean(), [torch.randn(5, 6), labels(5, classes=4)], []


@case
def embedding_of_any_rank():
    return Of(lambda s, i: s.fc(s.table(i)).mean((1, 2)),
              table=nn.Embedding(9, 5, padding_idx=2), fc=nn.Linear(5, 3)), \
        F.cross_entropy, [labels(4, 2, 3, classes=9)], [labels(4, classes=3)]


@case
def spectral_norm():
    net = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(6, 8)), nn.ReLU(),
                        nn.Linear(8, 2))
    return net, F.mse_loss, [torch.randn(5, 6)], [torch.randn(5, 2)]


@case
def checkpointed():
    from torch.utils.checkpoint import checkpoint
    return Of(lambda s, x: s.b(checkpoint(s.a, x, use_reentrant=False)),
              a=mlp(6, 8, 8), b=nn.Linear(8, 2)), F.mse_loss, [torch.randn(5, 6)], \
        [torch.randn(5, 2)]


@case
def forward_hook():
    net = nn.Sequential(nn.Linear(6, 8), nn.Linear(8, 2))
    net[0].register_forward_hook(lambda module, args, out: out * 2)
    return net, F.mse_loss, [torch.randn(5, 6)], [torch.randn(5, 2)]


@case
def double():
    net, loss, inputs, targets = mlp_classifier()
    return net.double(), loss, [x.double() for x in inputs], targets


# Losses

def of_loss(loss, *targets, classes=4, rows=6):
    return nn.Linear(5, classes), loss, [torch.randn(rows, 5)], list(targets)


@case
def cross_entropy_weighted():
    weight = torch.rand(4) + 0.5
    return of_loss(lambda y, t: F.cross_entropy(y, t, weight=weight.to(y.dtype),
                                                label_smoothing=0.1),
                   labels(6, classes=4))


@case
def cross_entropy_module():
    return of_loss(nn.CrossEntropyLoss(weight=torch.rand(4) + 0.5, reduction="sum"),
                   labels(6, classes=4))


@case
def cross_entropy_ignored():
    target = labels(6, classes=4)
    target[2] = -100
    return of_loss(F.cross_entropy, target)


@case
def cross_entropy_soft():
    return of_loss(lambda y, t: F.cross_entropy(y, t, label_smoothing=0.1),
                   torch.rand(6, 4).softmax(1))


@case
def cross_entropy_none():
    return of_loss(lambda y, t, w: (F.cross_entropy(y, t, reduction="none") * w).sum(),
                   labels(6, classes=4), torch.rand(6))


@case
def cross_entropy_of_maps():
    return nn.Linear(5, 12), lambda y, t: F.cross_entropy(y.view(6, 4, 3), t), \
        [torch.randn(6, 5)], [labels(6, 3, classes=4)]


@case
def nll():
    return of_loss(lambda y, t: F.nll_loss(F.log_softmax(y, -1), t), labels(6, classes=4))


@case
def bce():
    return of_loss(lambda y, t: F.binary_cross_entropy(torch.sigmoid(y), t), torch.rand(6, 4))


@case
def bce_positive():
    weight = torch.rand(4) + 1
    return of_loss(nn.BCEWithLogitsLoss(pos_weight=weight), torch.rand(6, 4).round())


@case
def triplet():
    def forward(s, a, p, n):
        return s.net(a), s.net(p), s.net(n)
    return Of(forward, net=mlp(5, 8, 4)), \
        lambda out: F.triplet_margin_loss(*out, margin=2.0), \
        [torch.randn(6, 5) for _ in range(3)], []


@case
def contrastive():
    def loss(out, target):
        a, b = (F.normalize(x, dim=-1) for x in out)
        scores = a @ b.t() / 0.1
        return (F.cross_entropy(scores, target) + F.cross_entropy(scores.t(), target)) / 2
    return Of(lambda s, x, y: (s.a(x), s.b(y)), a=mlp(5, 8, 4), b=mlp(3, 8, 4)), loss, \
        [torch.randn(6, 5), torch.randn(6, 3)], [torch.arange(6)]


@case
def cosine_embedding():
    return Of(lambda s, x, y: (s.a(x), s.a(y)), a=nn.Linear(5, 4)), \
        lambda out, t: F.cosine_embedding_loss(*out, t, margin=0.1), \
        [torch.randn(6, 5), torch.randn(6, 5)], [torch.randint(0, 2, (6,)) * 2.0 - 1]


@case
def soft_margin():
    return of_loss(F.soft_margin_loss, torch.randint(0, 2, (6, 4)) * 2.0 - 1)


@case
def poisson():
    return of_loss(F.poisson_nll_loss, torch.rand(6, 4) * 3)
